// The tool. capabilities.json lists what it may reach; the host checks every request against it.
package export_postern_tool_tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	host "wit_component/postern_tool_host"
	. "wit_component/postern_tool_tool"

	. "go.bytecodealliance.org/pkg/wit/types"
)

// The schema of params. The model reads it, and the host checks params against it before Execute.
const schema = `{
  "type": "object",
  "properties": {
    "date": { "type": "string", "format": "date", "description": "The day to count to, such as 2030-01-31" },
    "country": {
      "type": "string",
      "pattern": "^[A-Z]{2}$",
      "description": "Instead of a date: count to the next public holiday of this country, such as DE"
    }
  },
  "additionalProperties": false
}`

type countdown struct {
	Date string `json:"date"`
	Name string `json:"name,omitempty"`
	Days int    `json:"days"`
}

func Description() string {
	return "Counts the days until a date, or until the next public holiday of a country."
}

func Schema() string {
	return schema
}

func Execute(request Request) Response {
	result, err := count(request.Params)
	if err != nil {
		return failed(err.Error())
	}
	output, err := json.Marshal(result)
	if err != nil {
		return failed(err.Error())
	}
	return Response{Output: Some[string](string(output)), Error: None[string]()}
}

func failed(sentence string) Response {
	return Response{Output: None[string](), Error: Some[string](sentence)}
}

func count(text string) (result countdown, err error) {
	var params struct{ Date, Country string }
	if err = json.Unmarshal([]byte(text), &params); err != nil {
		return
	}
	result.Date = params.Date
	if result.Date == "" {
		if params.Country == "" {
			return result, errors.New("Give 'date' or 'country'.")
		}
		if result, err = nextHoliday(params.Country); err != nil {
			return
		}
	}
	day, err := time.Parse(time.DateOnly, result.Date)
	if err != nil {
		return result, fmt.Errorf("%s is not a date.", result.Date)
	}
	result.Days = int(day.Sub(time.Now().UTC().Truncate(24*time.Hour)).Hours() / 24)
	return
}

func nextHoliday(country string) (countdown, error) {
	url := "https://date.nager.at/api/v3/NextPublicHolidays/" + country
	host.Log(host.LevelInfo, "fetching the public holidays of "+country)
	reply := host.HttpRequest("GET", url, "{}", None[[]uint8](), None[uint32]())
	if reply.IsErr() {
		return countdown{}, errors.New(reply.Err())
	}
	response := reply.Ok()
	if response.Status != 200 {
		return countdown{}, fmt.Errorf("date.nager.at returned %d: %.200s", response.Status, response.Body)
	}
	var holidays []countdown
	if err := json.Unmarshal(response.Body, &holidays); err != nil {
		return countdown{}, err
	}
	if len(holidays) == 0 {
		return countdown{}, fmt.Errorf("No public holidays found for %s.", country)
	}
	return holidays[0], nil
}
