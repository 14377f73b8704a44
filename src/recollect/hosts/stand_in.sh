# An MCP server where ours cannot start: Claude Code hides a failed one for a quarter of an hour. It gives each request its
# own id, as written: awk finds method and id among the members of the outermost object.
while IFS= read -r line; do
said=$(printf '%s\n' "$line" | awk '{
  while (match($0, /"([^"\\]|\\.)*"|[][{}:,]|[^][{}:," \t\r]+/)) {
    token = substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH)
    if (token ~ /^[[{]$/) depth++
    else if (token ~ /^[]}]$/) depth--
    else if (depth == 1 && token == ":") name = last
    else if (depth == 1 && token == ",") name = ""
    else if (depth == 1 && name == "") last = token
    else if (depth == 1) found[name] = token
  }
  print found["\"method\""] " " found["\"id\""]
}')
case $said in
  ' '* | *' ' | *' null') continue ;;
  '"initialize" '*) is='{"protocolVersion": "2025-06-18", "serverInfo": {"name": "recollect", "version": "none"}, "capabilities": {"tools": {}}}' ;;
  '"tools/list" '*) is='{"tools": [{"name": "begin", "description": "How to repair Recollect.", "inputSchema": {"type": "object"}}]}' ;;
  '"tools/call" '*) is='{"content": [{"type": "text", "text": "Recollect does not start here: it is not installed, or its Python is gone or broken. Ask the user to install it (pip install recollect-memory), then to run in the project: recollect init"}]}' ;;
  *) is='{}' ;;
esac
printf '{"jsonrpc": "2.0", "id": %s, "result": %s}\n' "${said#* }" "$is"
done
