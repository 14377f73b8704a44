"""The word index keeps terms in two grades (`store/grades.py`)."""

STATEMENTS = ()
WORDS_ANEW = True
