// main URL BYTES COUNT: posts a body so often, each time on a new connection; prints the status of each response on a line.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

func main() {
	size, _ := strconv.Atoi(os.Args[2])
	count, _ := strconv.Atoi(os.Args[3])
	body := bytes.Repeat([]byte(" "), size)
	for ; count > 0; count-- {
		client := &http.Client{Transport: &http.Transport{}}
		response, err := client.Post(os.Args[1], "application/json", bytes.NewReader(body))
		if err != nil {
			fmt.Println(err)
			continue
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		fmt.Println(response.StatusCode)
	}
}
