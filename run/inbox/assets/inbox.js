// Keeps the page up to date without moving what is being read, and works it by keys. The page works without it.
const root = document.documentElement
root.classList.add('has-script')

const find = (id) => document.getElementById(id)
const wide = matchMedia('(min-width: 60rem)')
const [list, pill, pause, live, said] = ['deliveries', 'pill', 'pause', 'live', 'said'].map(find)
const leastMs = 200
const typingMs = 200

/** What the server last sent of each row and detail: what a person unfolded since is no difference. */
const sent = new Map()
const partsOf = (item) => ({ row: item.querySelector('.row').outerHTML, detail: item.querySelector('.detail')?.outerHTML ?? '' })
const rows = () => [...list.children]
for (const item of rows()) sent.set(item.id, partsOf(item))

let paused = false
let loading
/** Whether what is being loaded was asked for: it must not give way to what changes meanwhile. */
let isAsked = false
let last = 0
let timer

function say(words) {
  said.textContent = ''
  // A screen reader speaks what changes, not what is the same again.
  setTimeout(() => { said.textContent = words }, 50)
}

/** New ones would move what is read: the list is scrolled, or on a small screen a delivery is unfolded. */
function isReading() {
  if (wide.matches) return find('scroller').scrollTop > 8
  return scrollY > 8 || list.querySelector('.detail') !== null
}

/** Shows the page of an address. `isLive`: it was not asked for, so nothing may move and what is held back is counted. */
async function load(address, isLive) {
  loading?.abort()
  const own = loading = new AbortController()
  isAsked = !isLive
  last = performance.now()
  try {
    const response = await fetch(address, { signal: own.signal, headers: { Accept: 'text/html' } })
    if (!response.ok) throw new Error(`status ${response.status}`)
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    if (loading === own) show(page, isLive)
  } catch {
    // A later one took its place, or the inbox is away: the live connection says so.
  }
  if (loading === own) isAsked = false
}

function show(page, isLive) {
  for (const id of ['banner', 'counts', 'empty', 'note', 'reset', 'answer-now']) replace(id, page)
  for (const id of ['filter-kind', 'filter-signature', 'filter-answer', 'answer-kind']) replaceOptions(id, page)
  const main = document.querySelector('main')
  const { run } = page.querySelector('main').dataset
  const isNewRun = main.dataset.run !== run
  main.dataset.run = run
  if (isNewRun) {
    list.replaceChildren()
    sent.clear()
  }
  showRows([...page.getElementById('deliveries').children], isLive && (paused || isReading()), isLive)
}

function replace(id, page) {
  const [old, fresh] = [find(id), page.getElementById(id)]
  if (old.innerHTML === fresh.innerHTML) return
  const focused = old.contains(document.activeElement)
  old.innerHTML = fresh.innerHTML
  if (focused) (old.querySelector('button, a') ?? find('q')).focus()
}

function replaceOptions(id, page) {
  const [old, fresh] = [find(id), page.getElementById(id)]
  if (document.activeElement === old || old.innerHTML === fresh.innerHTML) return
  const { value } = old
  old.innerHTML = fresh.innerHTML
  old.value = value
}

function showRows(fresh, isHeld, isLive) {
  const known = new Set(rows().map(({ id }) => id))
  const newest = rows()[0]
  const wanted = new Map(fresh.map((item) => [item.id, item]))
  for (const item of rows()) {
    if (wanted.has(item.id)) continue
    // What is being read stays, although it is no longer kept.
    if (isLive && item.querySelector('.detail')) item.classList.add('gone')
    else { item.remove(); sent.delete(item.id) }
  }
  let held = 0
  let before = newest
  const added = []
  for (const item of fresh) {
    if (known.has(item.id)) {
      update(find(item.id), item)
      before = find(item.id).nextElementSibling
    } else if (isHeld) {
      held += 1
    } else {
      sent.set(item.id, partsOf(item))
      added.push(item)
      list.insertBefore(document.adoptNode(item), before?.isConnected ? before : null)
    }
  }
  pill.hidden = held === 0
  pill.textContent = `${held} new`
  document.title = held > 0 ? `(${held}) Webhook inbox` : 'Webhook inbox'
  if (isLive && added.length > 0) say(added.length === 1 ? `${added[0].querySelector('.kind').textContent} came` : `${added.length} deliveries came`)
}

function update(item, fresh) {
  const [old, now] = [sent.get(item.id), partsOf(fresh)]
  item.classList.remove('gone')
  item.classList.toggle('open', now.detail !== '')
  if (old.row !== now.row) exchange(item.querySelector('.row'), fresh.querySelector('.row'))
  const [detail, next] = [item.querySelector('.detail'), fresh.querySelector('.detail')]
  if (old.detail !== now.detail) {
    if (detail && next) exchange(detail, next)
    else if (detail) detail.remove()
    else item.append(document.adoptNode(next))
  }
  sent.set(item.id, now)
}

/** Puts new markup in the place of old, with the same things unfolded, the same scroll and the same focus. */
function exchange(old, fresh) {
  const next = document.adoptNode(fresh)
  const focus = pathOfFocus(old)
  const { scrollTop } = old
  for (const one of old.querySelectorAll('[data-fold]')) {
    const twin = next.querySelector(`[data-fold="${one.dataset.fold}"]`)
    if (twin) twin.open = one.open
  }
  old.replaceWith(next)
  next.scrollTop = scrollTop
  if (focus) (focus === ':self' ? next : next.querySelector(focus))?.focus({ preventScroll: true })
}

function pathOfFocus(inside) {
  const active = document.activeElement
  if (active === inside) return ':self'
  if (!inside.contains(active)) return null
  if (active.id) return `#${active.id}`
  const fold = active.tagName === 'SUMMARY' && active.parentElement.dataset.fold
  return fold ? `[data-fold="${fold}"] > summary` : 'h2'
}

/** Goes to an address as a link would, but in place. */
async function go(address, keep = false) {
  history[keep ? 'replaceState' : 'pushState'](null, '', address)
  await load(address, false)
}

async function unfold(link) {
  const item = link.closest('li[id]')
  const isFolding = item?.querySelector(':scope > .row') === link && link.getAttribute('aria-expanded') === 'true'
  const { delivery } = link.dataset
  await go(link.getAttribute('href'))
  const row = find(`delivery-${delivery}`)?.querySelector('.row')
  row?.focus({ preventScroll: true })
  if (!isFolding && !wide.matches) row?.scrollIntoView({ block: 'start' })
  else row?.scrollIntoView({ block: 'nearest' })
}

const here = () => location.pathname + location.search

/** Something changed: looks again, but not all the time. */
function changed() {
  clearTimeout(timer)
  timer = setTimeout(() => isAsked ? changed() : void load(here(), true), Math.max(0, leastMs - (performance.now() - last)))
}

function listen() {
  const source = new EventSource('/live')
  const state = (words, isOn) => {
    live.textContent = words
    live.classList.toggle('on', isOn)
  }
  state('connecting', false)
  source.addEventListener('open', () => {
    state('live', true)
    changed()
  })
  source.addEventListener('changed', changed)
  source.addEventListener('error', () => {
    state('connection lost, trying again', false)
    if (source.readyState !== EventSource.CLOSED) return
    source.close()
    setTimeout(listen, 2000)
  })
}

async function copy(button) {
  const words = button.textContent
  const text = fetch(button.dataset.copy).then((response) => response.ok ? response.text() : Promise.reject(new Error('gone')))
  let copied = true
  try {
    // The text comes after the press: a browser may allow it only if the promise is handed over at once.
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text.then((one) => new Blob([one], { type: 'text/plain' })) })])
  } catch {
    copied = await text.then((one) => navigator.clipboard.writeText(one)).then(() => true, () => false)
  }
  button.textContent = copied ? 'Copied' : 'Not copied'
  say(button.textContent)
  setTimeout(() => { button.textContent = words }, 1000)
}

let posting = false

async function post(form) {
  // A button that is turned off loses the focus: a second press is passed over instead.
  if (posting) return
  posting = true
  try {
    const response = await fetch(form.getAttribute('action'), { method: 'POST', headers: { Accept: 'text/plain' }, body: new URLSearchParams(new FormData(form)) })
    const words = (await response.text()).trim()
    say(words)
    if (response.status === 400) form.querySelector('.soft').textContent = words
    if (response.ok && form.closest('#chooser')) form.closest('#chooser').open = false
  } catch {
    say('The inbox cannot be reached.')
  }
  posting = false
  await load(here(), false)
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('a')
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
  if (link && isPlain && link.dataset.delivery) {
    event.preventDefault()
    void unfold(link)
  } else if (link && isPlain && link.getAttribute('href').match(/^\/(\?|$)/)) {
    event.preventDefault()
    find('filter').reset()
    for (const field of find('filter').elements) if (field.name) field.value = ''
    void go(link.getAttribute('href'))
  }
  const button = event.target.closest('[data-copy]')
  if (button) void copy(button)
})

document.addEventListener('submit', (event) => {
  event.preventDefault()
  if (event.target.id === 'filter') applyFilter()
  else void post(event.target)
})

function applyFilter() {
  const params = new URLSearchParams()
  for (const [name, value] of new FormData(find('filter'))) if (value !== '') params.set(name, value)
  const open = new URLSearchParams(location.search).get('delivery')
  if (open) params.set('delivery', open)
  void go(params.size === 0 ? '/' : `/?${params}`, true)
}

let typing
find('filter').addEventListener('input', () => {
  clearTimeout(typing)
  typing = setTimeout(applyFilter, typingMs)
})

pause.addEventListener('click', () => {
  paused = !paused
  pause.setAttribute('aria-pressed', String(paused))
  if (!paused) changed()
})

pill.addEventListener('click', async () => {
  await load(here(), false)
  if (wide.matches) find('scroller').scrollTop = 0
  const [first] = rows()
  first?.scrollIntoView({ block: 'nearest' })
  first?.querySelector('.row').focus({ preventScroll: true })
})

/** Moves between rows; from anywhere else to the unfolded one, or the first. */
function move(by) {
  const all = [...list.querySelectorAll(':scope > li > .row')]
  const at = all.findIndex((row) => row.closest('li').contains(document.activeElement))
  const next = at === -1 ? all.find((row) => row.getAttribute('aria-expanded') === 'true') ?? all[0] : all[at + by]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'nearest' })
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const { target, key } = event
  const isField = target.matches('input, select, textarea')
  // Where arrows scroll what is read they are not taken.
  const isInList = target === document.body || target.matches('.row')
  if (key === '/' && !isField) {
    event.preventDefault()
    find('q').focus()
    find('q').select()
  } else if ((key === 'ArrowDown' || key === 'ArrowUp') && isInList) {
    event.preventDefault()
    move(key === 'ArrowDown' ? 1 : -1)
  } else if (key === 'ArrowDown' && target.id === 'q') {
    event.preventDefault()
    move(1)
  } else if (key === 'Escape' && target.id === 'q') {
    target.blur()
  } else if (key === 'Escape') {
    const open = list.querySelector('.open > .row')
    if (open) void unfold(open)
  }
})

addEventListener('popstate', () => {
  const params = new URLSearchParams(location.search)
  for (const field of find('filter').elements) if (field.name) field.value = params.get(field.name) ?? ''
  void load(here(), false)
})

listen()
