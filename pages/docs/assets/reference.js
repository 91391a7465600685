// Shows the document that the page names. Colours follow the visitor's choice of light or dark, once, at the start.
const place = document.getElementById('reference')
const dark = matchMedia('(prefers-color-scheme: dark)').matches
const ink = dark ? '#e2e8f0' : '#0f172a'
const soft = dark ? '#a3b1c6' : '#475569'
const paper = dark ? '#0f172a' : '#ffffff'
const ground = dark ? '#172033' : '#f5f7fa'
const accent = dark ? '#5eead4' : '#0f766e'
const family = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'
const mono = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace'

Redoc.init(place.dataset.document, {
  hideDownloadButton: false,
  expandResponses: '200,201,202',
  jsonSampleExpandLevel: 4,
  nativeScrollbars: true,
  pathInMiddlePanel: true,
  scrollYOffset: 56,
  sortPropsAlphabetically: false,
  theme: {
    colors: {
      primary: { main: accent },
      text: { primary: ink, secondary: soft },
      border: { dark: dark ? '#334155' : '#d5dbe5', light: dark ? '#243047' : '#e8ecf2' },
      gray: { 50: ground, 100: dark ? '#1e293b' : '#eef1f5' },
      responses: {
        success: { color: dark ? '#6ee7b7' : '#047857', backgroundColor: dark ? '#10322b' : '#ecf8f2', tabTextColor: '#6ee7b7' },
        error: { color: dark ? '#fca5a5' : '#b42318', backgroundColor: dark ? '#3a1f24' : '#fdf0ef', tabTextColor: '#fca5a5' },
      },
    },
    schema: { nestedBackground: ground, typeNameColor: soft, typeTitleColor: soft, requireLabelColor: dark ? '#fca5a5' : '#b42318', arrow: { color: soft } },
    sidebar: { backgroundColor: ground, textColor: ink, activeTextColor: accent, width: '17rem' },
    rightPanel: { backgroundColor: dark ? '#0b1220' : '#1b2536', textColor: '#f1f5f9' },
    codeBlock: { backgroundColor: dark ? '#111a2b' : '#111a2b' },
    typography: {
      fontSize: '16px', lineHeight: '1.55', fontFamily: family, headings: { fontFamily: family, fontWeight: '700' },
      code: { fontFamily: mono, fontSize: '14px', color: dark ? '#f0abfc' : '#86198f', backgroundColor: ground }, links: { color: accent, visited: accent, hover: accent },
    },
  },
}, place)
document.documentElement.dataset.look = dark ? 'dark' : 'light'
document.documentElement.style.background = paper
