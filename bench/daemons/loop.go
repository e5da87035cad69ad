// N PROGRAM FILE: a loop like that of supercronic: for each of N jobs a goroutine, which runs it every minute.
package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

func drain(pipe io.Reader, done chan<- bool) {
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
	}
	done <- true
}

func run(program, file string) {
	command := exec.Command(program, file)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, _ := command.StdoutPipe()
	errors, _ := command.StderrPipe()
	if command.Start() != nil {
		return
	}
	done := make(chan bool, 2)
	go drain(out, done)
	go drain(errors, done)
	<-done
	<-done
	command.Wait()
}

func main() {
	number, _ := strconv.Atoi(os.Args[1])
	for range number {
		go func() {
			for {
				time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
				run(os.Args[2], os.Args[3])
			}
		}()
	}
	select {}
}
