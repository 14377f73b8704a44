-- A session's start asks for the learnings that helped.

CREATE INDEX learnings_proven ON learnings (space, confidence) WHERE times_helpful > 0;
