import { closeSync, openSync, readSync } from 'node:fs'

interface Entry {
  level?: number
  msg?: string
  operation?: string
  status?: number
  reason?: string
  error?: { message?: string }
}

/** Reads on in a log file and hands each line to `line`, as it comes. The function it returns ends it. */
export function followLog(file: string, line: (text: string) => void): () => void {
  const descriptor = openSync(file, 'a+')
  const chunk = Buffer.alloc(65_536)
  let position = 0
  let rest = ''
  const timer = setInterval(() => {
    for (;;) {
      const length = readSync(descriptor, chunk, 0, chunk.length, position)
      if (length === 0) return
      position += length
      const lines = (rest + chunk.toString('utf8', 0, length)).split('\n')
      rest = lines.pop() ?? ''
      lines.forEach(line)
    }
  }, 300)
  timer.unref()
  return () => {
    clearInterval(timer)
    closeSync(descriptor)
  }
}

/** What a person should see of a log line: warnings and errors, in one line. Null for the rest. */
export function notable(text: string): string | null {
  if (!/"level":[456]0/.test(text)) return null
  try {
    const { msg = '', operation, status, reason, error } = JSON.parse(text) as Entry
    return [msg, operation, status, reason ?? error?.message].filter((part) => part !== undefined && part !== '').join(' ')
  } catch {
    return text
  }
}
