// Reads the heads of responses with net/http: the address of a site, then the number of paths; one line of JSON for each head.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

type head struct {
	Status int         `json:"status"`
	Fields [][2]string `json:"fields"`
	Body   string      `json:"body"`
}

func main() {
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	out := json.NewEncoder(os.Stdout)
	for at := 0; at < count; at++ {
		request, err := http.NewRequest("GET", fmt.Sprintf("http://%s/api/service/files/%d", os.Args[1], at), nil)
		if err != nil {
			panic(err)
		}
		request.Header.Set("cookie", "session=ada")
		response, err := client.Do(request)
		if err != nil {
			panic(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			panic(err)
		}
		read := head{Status: response.StatusCode, Body: string(body)}
		for name, values := range response.Header {
			for _, value := range values {
				read.Fields = append(read.Fields, [2]string{strings.ToLower(name), value})
			}
		}
		if err := out.Encode(read); err != nil {
			panic(err)
		}
	}
}
