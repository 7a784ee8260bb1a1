package main

import (
	"bytes"
	"encoding/json"
)

// The names of all generations: those of JSON and, as generated code has them in its tags, those of protobuf.
type configuration struct {
	PushNotification           interface{} `json:"pushNotification"`
	PushNotificationConfig     interface{} `json:"pushNotificationConfig"`
	TaskPushNotificationConfig interface{} `json:"taskPushNotificationConfig"`
	ProtoV03                   interface{} `json:"push_notification"`
	ProtoDraft                 interface{} `json:"push_notification_config"`
	ProtoV1                    interface{} `json:"task_push_notification_config"`
}

type params struct {
	Configuration *configuration `json:"configuration"`
}

func (p params) hasPush() bool {
	c := p.Configuration
	return c != nil && (c.PushNotification != nil || c.PushNotificationConfig != nil || c.TaskPushNotificationConfig != nil ||
		c.ProtoV03 != nil || c.ProtoDraft != nil || c.ProtoV1 != nil)
}

type envelope struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

var structReaders = []reader{
	// What a2a-go does: the first value of the body, and its params afterwards.
	{"go-struct-decoder", func(body []byte) (string, bool, error) {
		var read envelope
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&read); err != nil {
			return "", false, err
		}
		return readParams(read)
	}},
	{"go-struct-unmarshal", func(body []byte) (string, bool, error) {
		var read envelope
		if err := json.Unmarshal(body, &read); err != nil {
			return "", false, err
		}
		return readParams(read)
	}},
	// Repeated params are merged here, where a RawMessage keeps the last ones.
	{"go-struct-nested", func(body []byte) (string, bool, error) {
		var read struct {
			Method string `json:"method"`
			Params params `json:"params"`
		}
		err := json.Unmarshal(body, &read)
		return read.Method, read.Params.hasPush(), err
	}},
}

func readParams(read envelope) (string, bool, error) {
	var inner params
	if len(read.Params) > 0 {
		if err := json.Unmarshal(read.Params, &inner); err != nil {
			return "", false, err
		}
	}
	return read.Method, inner.hasPush(), nil
}
