package main

import (
	"encoding/json"
	"sort"
	"strings"
)

var chatMethods = map[string]bool{
	"SendMessage": true, "SendStreamingMessage": true, "GetTask": true, "CancelTask": true, "SubscribeToTask": true,
	"message/send": true, "message/stream": true, "tasks/get": true, "tasks/cancel": true, "tasks/resubscribe": true,
}

var pushNames = []string{
	"pushNotification", "pushNotificationConfig", "taskPushNotificationConfig",
	"push_notification", "push_notification_config", "task_push_notification_config",
}

// All values a reader may find under a name. Which of several it takes is chance: maps have no order.
type lookup func(object map[string]interface{}, name string) []interface{}

func exact(object map[string]interface{}, name string) []interface{} {
	if value, ok := object[name]; ok {
		return []interface{}{value}
	}
	return nil
}

func folded(object map[string]interface{}, name string) []interface{} {
	var names []string
	for key := range object {
		if strings.EqualFold(key, name) {
			names = append(names, key)
		}
	}
	sort.Strings(names)
	var values []interface{}
	for _, key := range names {
		values = append(values, object[key])
	}
	return values
}

var mapReaders = []reader{
	{"go-map-exact", func(body []byte) (string, bool, error) { return readMap(body, exact) }},
	{"go-map-folded", func(body []byte) (string, bool, error) { return readMap(body, folded) }},
}

func readMap(body []byte, find lookup) (string, bool, error) {
	var value interface{}
	if err := json.Unmarshal(body, &value); err != nil {
		return "", false, err
	}
	requests := []interface{}{value}
	if batch, ok := value.([]interface{}); ok {
		requests = batch
	}
	var methods []string
	push := false
	for _, request := range requests {
		object, ok := request.(map[string]interface{})
		if !ok {
			continue
		}
		for _, method := range find(object, "method") {
			if text, ok := method.(string); ok {
				methods = append(methods, text)
			}
		}
		push = push || mapHasPush(object, find)
	}
	for _, method := range methods {
		if !chatMethods[method] {
			return method, push, nil
		}
	}
	if len(methods) == 0 {
		return "", push, nil
	}
	return methods[0], push, nil
}

func mapHasPush(request map[string]interface{}, find lookup) bool {
	for _, params := range objects(find(request, "params")) {
		for _, configuration := range objects(find(params, "configuration")) {
			for _, name := range pushNames {
				for _, value := range find(configuration, name) {
					if value != nil {
						return true
					}
				}
			}
		}
	}
	return false
}

func objects(values []interface{}) []map[string]interface{} {
	var found []map[string]interface{}
	for _, value := range values {
		if object, ok := value.(map[string]interface{}); ok {
			found = append(found, object)
		}
	}
	return found
}
