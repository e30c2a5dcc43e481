// The tool. capabilities.json lists what it may reach: nothing yet.
package export_postern_tool_tool

import (
	"encoding/json"

	. "wit_component/postern_tool_tool"

	. "go.bytecodealliance.org/pkg/wit/types"
)

// The schema of params. The model reads it, and the host checks params against it before Execute.
const schema = `{
  "type": "object",
  "properties": { "text": { "type": "string", "description": "The text to repeat" } },
  "required": ["text"],
  "additionalProperties": false
}`

func Description() string {
	return "Repeats a text. The model decides by this sentence when to call the tool."
}

func Schema() string {
	return schema
}

func Execute(request Request) Response {
	var params struct {
		Text *string `json:"text"`
	}
	if err := json.Unmarshal([]byte(request.Params), &params); err != nil {
		return failed(err.Error())
	}
	if params.Text == nil {
		return failed("Give 'text'.")
	}
	return succeeded(map[string]string{"text": *params.Text})
}

func succeeded(result any) Response {
	output, err := json.Marshal(result)
	if err != nil {
		return failed(err.Error())
	}
	return Response{Output: Some[string](string(output)), Error: None[string]()}
}

func failed(sentence string) Response {
	return Response{Output: None[string](), Error: Some[string](sentence)}
}
