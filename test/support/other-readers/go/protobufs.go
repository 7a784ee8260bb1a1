package main

import (
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/structpb"
)

// Readers of each generation's protobuf messages: of the params alone, and of the whole body.
func protobufReaders(descriptors []byte) ([]reader, error) {
	var set descriptorpb.FileDescriptorSet
	if err := protojson.Unmarshal(descriptors, &set); err != nil {
		return nil, err
	}
	set.File = append(set.File, protodesc.ToFileDescriptorProto(structpb.File_google_protobuf_struct_proto))
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return nil, err
	}
	var readers []reader
	for _, generation := range []string{"v03", "v1"} {
		request, err := messageType(files, "a2a."+generation+".SendMessageRequest")
		if err != nil {
			return nil, err
		}
		whole, err := messageType(files, "a2a."+generation+".Envelope")
		if err != nil {
			return nil, err
		}
		readers = append(readers, reader{"go-protojson-" + generation, func(body []byte) (string, bool, error) {
			var read envelope
			if err := json.Unmarshal(body, &read); err != nil {
				return "", false, err
			}
			message := dynamicpb.NewMessage(request)
			if len(read.Params) > 0 {
				if err := lenient.Unmarshal(read.Params, message); err != nil {
					return "", false, err
				}
			}
			return read.Method, protobufHasPush(message), nil
		}}, reader{"go-protojson-envelope-" + generation, func(body []byte) (string, bool, error) {
			message := dynamicpb.NewMessage(whole)
			if err := lenient.Unmarshal(body, message); err != nil {
				return "", false, err
			}
			fields := whole.Fields()
			method := message.Get(fields.ByName("method")).String()
			return method, protobufHasPush(message.Get(fields.ByName("params")).Message()), nil
		}})
	}
	return readers, nil
}

var lenient = protojson.UnmarshalOptions{DiscardUnknown: true}

func messageType(files interface {
	FindDescriptorByName(protoreflect.FullName) (protoreflect.Descriptor, error)
}, name string) (protoreflect.MessageDescriptor, error) {
	descriptor, err := files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil, err
	}
	return descriptor.(protoreflect.MessageDescriptor), nil
}

// Whether any field of the configuration is set to more than null: all of them are push configurations.
func protobufHasPush(request protoreflect.Message) bool {
	push := false
	configuration := request.Get(request.Descriptor().Fields().ByName("configuration")).Message()
	configuration.Range(func(_ protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		kinds := value.Message().Descriptor().Oneofs().ByName("kind")
		kind := value.Message().WhichOneof(kinds)
		push = push || (kind != nil && kind.Name() != "null_value")
		return true
	})
	return push
}
