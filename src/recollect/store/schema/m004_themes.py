"""Themes of findings: their names and homes are rows; raw findings, theme files and the index are files."""

STATEMENTS = (
    """
    CREATE TABLE finding_files (
      space $text NOT NULL, path $text NOT NULL, sha $text NOT NULL, processed_at $int NOT NULL,
      PRIMARY KEY (space, path)
    ) $table""",
    """
    CREATE TABLE themes (
      space $text NOT NULL, name $text NOT NULL,
      named_by $text NOT NULL CHECK (named_by IN ('machine', 'human')),
      summary $text NOT NULL, work_ids $text NOT NULL, left_out $text NOT NULL,
      inherited $text NOT NULL, inherited_units $text NOT NULL,
      file_hash $text NOT NULL, before_hash $text NOT NULL,
      PRIMARY KEY (space, name)
    ) $table""",
    """
    CREATE TABLE theme_findings (
      space $text NOT NULL, finding_id $text NOT NULL, theme $text NOT NULL, text_hash $text NOT NULL,
      PRIMARY KEY (space, finding_id),
      FOREIGN KEY (space, theme) REFERENCES themes (space, name)
    ) $table""",
    "CREATE INDEX theme_findings_by_theme ON theme_findings (space, theme)",
)
