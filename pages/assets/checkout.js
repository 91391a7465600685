// Live status with back-off, the countdown, the copy and print buttons. The page works without it.
document.documentElement.classList.add('scripts')

const first = 2000
const longest = 15000
const final = ['paid', 'failed', 'cancelled', 'reversed']
let ticking

/** Asks how the payment stands until something changed, then shows the page anew. */
function watch() {
  let wait = first
  let timer
  let asking = false

  const later = (milliseconds) => {
    clearTimeout(timer)
    timer = setTimeout(ask, milliseconds)
  }

  const ask = async () => {
    const { attemptId = '', attemptStatus = '', status, statusUrl } = thePage().dataset
    if (asking || document.hidden || !statusUrl || final.includes(status)) return
    asking = true
    try {
      const response = await fetch(statusUrl, { headers: { Accept: 'application/json' }, cache: 'no-store' })
      if (response.ok) {
        const now = await response.json()
        const changed = now.status !== status || (now.attempt_id ?? '') !== attemptId || (now.attempt_status ?? '') !== attemptStatus
        if (changed) {
          await showAnew()
          wait = first
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

function thePage() {
  return document.getElementById('page')
}

/** Puts the page as it is now in the place of what is shown, tells of it, and leaves the payer's focus where it was. */
async function showAnew() {
  const { url } = thePage().dataset
  if (new URL(url, location.href).pathname !== location.pathname) {
    location.replace(url)
    return
  }
  const response = await fetch(url, { headers: { Accept: 'text/html' }, cache: 'no-store' })
  if (!response.ok) throw new Error(String(response.status))
  const next = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('page')
  const old = thePage()
  const focused = old.contains(document.activeElement) ? document.activeElement : null
  const keep = focused?.dataset.keep
  old.replaceWith(document.adoptNode(next))
  wire(next)
  if (focused) (next.querySelector(keep ? `[data-keep="${keep}"]` : '#state, #method') ?? next.querySelector('#state, #method, h2'))?.focus({ preventScroll: true })
  scrollTo({ top: 0, behavior: 'instant' })
  document.getElementById('announcement').textContent = next.dataset.announces
}

/** Counts down to a deadline by the server's clock: the payer's own may be wrong. */
function countDown(place) {
  const ahead = Date.parse(place.dataset.now) - Date.now()
  const end = Date.parse(place.dataset.deadline)
  const show = () => {
    const left = Math.max(0, Math.floor((end - Date.now() - ahead) / 1000))
    const days = Math.floor(left / 86400)
    const hours = Math.floor(left / 3600) % 24
    const parts = [...(days > 0 || hours > 0 ? [hours] : []), Math.floor(left / 60) % 60, left % 60]
    const clock = parts.map((part) => String(part).padStart(2, '0')).join(':')
    place.textContent = days > 0 ? `${days} ${days === 1 ? place.dataset.day : place.dataset.days} ${clock}` : clock
    if (left > 0) ticking = setTimeout(show, 1000)
  }
  show()
}

/** Copies a number, and tells that a virtual account's was. */
async function copy(button) {
  const { copied, copy: value, countUrl, of } = button.dataset
  const said = button.textContent
  try {
    await navigator.clipboard.writeText(value)
  } catch {
    getSelection().selectAllChildren(document.getElementById(of))
    if (!document.execCommand('copy')) return
  }
  button.textContent = copied
  document.getElementById('announcement').textContent = copied
  setTimeout(() => {
    button.textContent = said
    document.getElementById('announcement').textContent = ''
  }, 2000)
  if (countUrl) fetch(countUrl, { method: 'POST', keepalive: true }).catch(() => undefined)
}

function wire(page) {
  clearTimeout(ticking)
  const place = page.querySelector('[data-deadline]')
  if (place) countDown(place)
}

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('button')
  if (button?.dataset.copy && button.textContent !== button.dataset.copied) copy(button)
  if (button?.hasAttribute('data-print')) print()
})

document.addEventListener('submit', ({ submitter }) => {
  submitter?.classList.add('busy')
  // After the browser has taken what the button says.
  setTimeout(() => {
    for (const button of document.querySelectorAll('form button')) button.disabled = true
  })
})

// Folds are no secret on paper.
let opened = []
addEventListener('beforeprint', () => {
  opened = [...document.querySelectorAll('.folds details:not([open])')]
  for (const fold of opened) fold.open = true
})
addEventListener('afterprint', () => {
  for (const fold of opened) fold.open = false
})

// A page that comes back from the browser's memory shows what was.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && thePage().dataset.url) location.replace(thePage().dataset.url)
})

document.addEventListener('DOMContentLoaded', () => {
  wire(thePage())
  if (thePage().dataset.statusUrl) watch()
})
