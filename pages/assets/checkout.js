// Live status with back-off, the countdown, and the copy button. The page works without it.
const page = document.querySelector('[data-status-url]')
const first = 2000
const longest = 15000
const final = ['paid', 'failed', 'cancelled', 'reversed']

/** Asks how the payment stands until something changed, then shows the page anew. */
function watch({ url, statusUrl, status, attemptId, attemptStatus }) {
  if (final.includes(status)) return
  let wait = first
  let timer
  let asking = false

  const later = (milliseconds) => {
    clearTimeout(timer)
    timer = setTimeout(ask, milliseconds)
  }

  const ask = async () => {
    if (asking || document.hidden) return
    asking = true
    try {
      const response = await fetch(statusUrl, { headers: { Accept: 'application/json' }, cache: 'no-store' })
      if (response.ok) {
        const now = await response.json()
        const changed = now.status !== status || (now.attempt_id ?? '') !== attemptId || (now.attempt_status ?? '') !== attemptStatus
        if (changed) {
          location.replace(url)
          return
        }
      } else {
        wait = Math.max(wait, Number(response.headers.get('Retry-After') ?? 0) * 1000)
      }
    } catch {
      // Without network the next try is as good as any.
    } finally {
      asking = false
    }
    later(wait + Math.random() * 500)
    wait = Math.min(longest, wait * 1.3)
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return
    wait = first
    later(0)
  })
  later(wait)
}

/** Counts down to a deadline by the server's clock: the payer's own may be wrong. */
function countDown(place) {
  const ahead = Date.parse(place.dataset.now) - Date.now()
  const end = Date.parse(place.dataset.deadline)
  const show = () => {
    const left = Math.max(0, Math.floor((end - Date.now() - ahead) / 1000))
    const days = Math.floor(left / 86400)
    const parts = [Math.floor(left / 3600) % 24, Math.floor(left / 60) % 60, left % 60]
    const clock = parts.map((part) => String(part).padStart(2, '0')).join(':')
    place.querySelector('[data-left]').textContent = days > 0 ? `${days} ${place.dataset.days} ${clock}` : clock
    if (left > 0) setTimeout(show, 1000)
  }
  place.hidden = false
  show()
}

/** Copies a number, and tells that a virtual account's was. */
function makeCopyable(button) {
  const said = button.textContent
  button.hidden = false
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy)
    } catch {
      const place = document.getElementById(button.dataset.of)
      getSelection().selectAllChildren(place)
      if (!document.execCommand('copy')) return
    }
    button.textContent = button.dataset.copied
    setTimeout(() => {
      button.textContent = said
    }, 2000)
    if (button.dataset.countUrl) fetch(button.dataset.countUrl, { method: 'POST', keepalive: true }).catch(() => undefined)
  })
}

if (page) watch(page.dataset)
for (const place of document.querySelectorAll('[data-live]')) place.hidden = false
for (const place of document.querySelectorAll('[data-deadline]')) countDown(place)
for (const button of document.querySelectorAll('[data-copy]')) makeCopyable(button)
for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', () => {
    // After the browser has taken what the button says.
    setTimeout(() => {
      for (const button of document.querySelectorAll('form button')) button.disabled = true
    })
  })
}
// A page that comes back from the browser's memory shows what was.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && page) location.replace(page.dataset.url)
})
