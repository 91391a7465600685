// Verifies webhooks with the standard library. `go run verify.go vectors.tsv` prints its verdict on each vector.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

const toleranceSeconds = 300

var (
	partForm = regexp.MustCompile(`^([a-z][a-z0-9]*)=([^\s=]+)$`)
	timeForm = regexp.MustCompile(`^[1-9][0-9]{0,11}$`)
	hexForm  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// parse takes "t=<unix seconds>,v1=<hex>" apart; ok unless there is not exactly one of each.
func parse(header string) (t, v1 string, ok bool) {
	found := map[string][]string{}
	for _, part := range strings.Split(header, ",") {
		match := partForm.FindStringSubmatch(part)
		if match == nil {
			return "", "", false
		}
		found[match[1]] = append(found[match[1]], match[2])
	}
	t, v1 = strings.Join(found["t"], ","), strings.Join(found["v1"], ",")
	return t, v1, timeForm.MatchString(t) && hexForm.MatchString(v1)
}

// verify takes the raw body, the two headers (empty when absent), the secrets, and the present time in seconds.
func verify(body []byte, current, previous string, secrets []string, now int64) string {
	if current == "" {
		return "missing"
	}
	genuine := false
	for _, header := range []string{current, previous} {
		if header == "" {
			continue
		}
		t, v1, ok := parse(header)
		if !ok {
			return "malformed"
		}
		seconds, _ := strconv.ParseInt(t, 10, 64)
		if now-seconds > toleranceSeconds || seconds-now > toleranceSeconds {
			return "stale"
		}
		signature, _ := hex.DecodeString(v1)
		for _, secret := range secrets {
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write([]byte(t + "."))
			mac.Write(body)
			if hmac.Equal(mac.Sum(nil), signature) {
				genuine = true
			}
		}
	}
	if genuine {
		return "ok"
	}
	return "mismatch"
}

func main() {
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	code := 0
	for _, line := range strings.Split(strings.TrimRight(string(file), "\n"), "\n")[1:] {
		fields := strings.Split(line, "\t")
		name, verdict, current, previous := fields[0], fields[1], fields[4], fields[5]
		now, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			panic(err)
		}
		body, err := base64.StdEncoding.DecodeString(fields[6])
		if err != nil {
			panic(err)
		}
		got := verify(body, current, previous, strings.Split(fields[3], " "), now)
		fmt.Printf("%-10s %s\n", got, name)
		if got != verdict {
			code = 1
		}
	}
	os.Exit(code)
}
