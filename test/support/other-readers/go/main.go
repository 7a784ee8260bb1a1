// Command go reads A2A messages the way servers written in Go do, and says what each of them makes of every message.
//
// Usage: go DESCRIPTORS < messages.jsonl > readings.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// A message as it crossed. Go servers decode bodies as UTF-8, whatever the content type says.
type message struct {
	ID   int    `json:"id"`
	Body []byte `json:"body"`
}

// What one reader made of one message; no method when it refused it.
type reading struct {
	ID     int     `json:"id"`
	Reader string  `json:"reader"`
	Method *string `json:"method"`
	Push   bool    `json:"push"`
	Error  string  `json:"error,omitempty"`
}

type reader struct {
	name string
	read func(body []byte) (method string, push bool, err error)
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("expected the path of the message descriptors"))
	}
	descriptors, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	protobufs, err := protobufReaders(descriptors)
	if err != nil {
		fail(err)
	}
	readers := append(append(structReaders, mapReaders...), protobufs...)

	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	buffered := bufio.NewWriter(os.Stdout)
	out := json.NewEncoder(buffered)
	for {
		var next message
		if err := in.Decode(&next); err == io.EOF {
			break
		} else if err != nil {
			fail(err)
		}
		for _, one := range readers {
			if err := out.Encode(readingOf(one, next)); err != nil {
				fail(err)
			}
		}
	}
	if err := buffered.Flush(); err != nil {
		fail(err)
	}
}

func readingOf(one reader, next message) reading {
	method, push, err := one.read(next.Body)
	if err == nil && method == "" {
		err = fmt.Errorf("no method")
	}
	if err != nil {
		return reading{ID: next.ID, Reader: one.name, Error: err.Error()}
	}
	return reading{ID: next.ID, Reader: one.name, Method: &method, Push: push}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
