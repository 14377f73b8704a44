#!/bin/sh
# Written by `recollect init`: runs the Recollect that ran it last.
python=@PYTHON@
[ "$1" != mcp ] && [ -x "$python" ] && exec "$python" -P -m recollect "$@"
[ "$1" = hook ] && exit 0
if [ "$1" = mcp ]; then
# A shell that a signal ends leaves its child running; a child in the background gets its input only through 3.
exec 3<&0
trap 'kill $! 2>/dev/null; exit 143' HUP INT TERM
[ -x "$python" ] && { "$python" -P -m recollect "$@" <&3 3<&- & wait $! && exit; }
trap - HUP INT TERM
@STAND_IN@
exit
fi
echo "recollect: $python is gone. Install Recollect again, then run: recollect init" >&2
exit 3
