"""Vectors beside passages: one row per piece of a passage and model. They go when their passage goes.

`$vector` is the engine's own type; `$vector_index` is how the engine finds the nearest of them.
"""

STATEMENTS = (
    """
    CREATE TABLE vector_models (
      space $text NOT NULL, model $text NOT NULL, number $int NOT NULL, dimensions $int NOT NULL,
      used_at $int NOT NULL,
      PRIMARY KEY (space, model),
      UNIQUE (space, number)
    ) $table""",
    """
    CREATE TABLE vectors (
      number $key, doc $int NOT NULL REFERENCES passages (doc) ON DELETE CASCADE,
      model $int NOT NULL, piece $int NOT NULL,
      space $text NOT NULL, kind $text NOT NULL, hash $text NOT NULL, vector $vector NOT NULL,
      UNIQUE (doc, model, piece)
    ) $table""",
    "CREATE INDEX vectors_by_piece ON vectors (space, model, piece, doc)",
    "$vector_index",
)
