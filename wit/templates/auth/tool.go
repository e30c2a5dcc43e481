// The tool. The host adds the token that capabilities.json names to each request; this code never sees it.
package export_postern_tool_tool

import (
	"encoding/json"
	"fmt"

	host "wit_component/postern_tool_host"
	. "wit_component/postern_tool_tool"

	. "go.bytecodealliance.org/pkg/wit/types"
)

// The schema of params. The model reads it, and the host checks params against it before Execute.
const schema = `{
  "type": "object",
  "properties": {
    "count": { "type": "integer", "minimum": 1, "maximum": 20, "description": "How many to list; 5 unless given" }
  },
  "additionalProperties": false
}`

const headers = `{"Accept":"application/vnd.github+json","User-Agent":"my-tool"}`

type repository struct {
	Name   string `json:"name"`
	Url    string `json:"url"`
	Pushed string `json:"pushed"`
}

func Description() string {
	return "Lists the user's own GitHub repositories, the most recently pushed first."
}

func Schema() string {
	return schema
}

func Execute(request Request) Response {
	params := struct{ Count int }{Count: 5}
	if err := json.Unmarshal([]byte(request.Params), &params); err != nil {
		return failed(err.Error())
	}
	url := fmt.Sprintf("https://api.github.com/user/repos?sort=pushed&per_page=%d", params.Count)
	reply := host.HttpRequest("GET", url, headers, None[[]uint8](), None[uint32]())
	if reply.IsErr() {
		return failed(reply.Err())
	}
	response := reply.Ok()
	switch response.Status {
	case 200:
		return summarize(response.Body)
	case 401:
		return failed("GitHub does not accept the token; the operator can set another one.")
	default:
		return failed(fmt.Sprintf("GitHub returned %d: %.200s", response.Status, response.Body))
	}
}

func summarize(body []byte) Response {
	var found []struct {
		FullName string `json:"full_name"`
		HtmlUrl  string `json:"html_url"`
		PushedAt string `json:"pushed_at"`
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return failed(err.Error())
	}
	repositories := make([]repository, len(found))
	for at, one := range found {
		repositories[at] = repository{one.FullName, one.HtmlUrl, one.PushedAt}
	}
	output, err := json.Marshal(repositories)
	if err != nil {
		return failed(err.Error())
	}
	return Response{Output: Some[string](string(output)), Error: None[string]()}
}

func failed(sentence string) Response {
	return Response{Output: None[string](), Error: Some[string](sentence)}
}
