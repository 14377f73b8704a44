-- A number of a vector has eight bits, no longer sixteen, its row only what tells it from others, and the hash of a
-- passage 16 digits.

$smaller_vectors;
UPDATE passages SET hash = substr(hash, 1, 16);
