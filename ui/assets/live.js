// What a page can do with a script: refresh what is live, keys, and copying. Without it every page is complete.
const say = text => { const p = document.getElementById('link'); p.hidden = !text; p.textContent = text; };

// Only the server makes pages: what is live is fetched again as a part of the page, and replaced.
let waiting = false, again = false, at = 0;
async function refresh() {
  if (waiting || document.hidden) { again = waiting; return; }
  waiting = true;
  await new Promise(done => setTimeout(done, Math.max(0, at + 1000 - Date.now())));
  try {
    const answer = await fetch(location.href, {headers: {Accept: 'text/html'}});
    if (answer.status === 401) { say('Signed out: run “readthru open” in a terminal'); return; }
    if (!answer.ok && answer.status !== 400) return;
    const made = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const old of document.querySelectorAll('[data-swap]')) {
      const fresh = made.getElementById(old.id);
      if (!fresh || old.contains(document.activeElement) && document.activeElement.matches('a, button, input, summary')) continue;
      const opened = [...old.querySelectorAll('details[open]')].map(d => d.id);
      old.replaceChildren(...fresh.childNodes);
      for (const d of old.querySelectorAll('details')) d.open = opened.includes(d.id);
    }
  } catch { /* the stream tells */ } finally {
    waiting = false;
    at = Date.now();
    if (again) { again = false; refresh(); }
  }
}

function listen(path) {
  const stream = new EventSource(path);
  stream.addEventListener('hello', event => {
    if (JSON.parse(event.data).instance !== document.body.dataset.instance) {
      stream.close();
      location.reload(); // another daemon, perhaps another version
      return;
    }
    say('Live');
    refresh();
  });
  stream.addEventListener('requests', refresh);
  stream.addEventListener('work', refresh);
  stream.onerror = () => say(stream.readyState === EventSource.CLOSED ?
    'Not connected: reload this page' : 'Connection lost, trying again');
  document.addEventListener('visibilitychange', refresh);
}
if (document.body.dataset.live) listen(document.body.dataset.live);
if ('poll' in document.body.dataset) setInterval(refresh, 2000);

// A form that answers while somebody types: the address changes with it, so that it can be kept.
for (const form of document.querySelectorAll('form[data-typed]')) {
  let timer = 0;
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const asked = [...new FormData(form)].filter(([, value]) => value.trim());
      history.replaceState(null, '', form.action + '?' + new URLSearchParams(asked));
      at = 0;
      refresh();
    }, 150);
  });
}

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    const before = button.textContent;
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = before; }, 1500);
  });
}

document.querySelector('.keys').hidden = false;
const keys = document.getElementById('keys');
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, textarea, select')) return;
  const links = [...document.querySelectorAll('.rows td.url a, .list td.url > a, .hits .url a')];
  const here = links.indexOf(document.activeElement);
  const acts = {
    '/': () => document.getElementById('q') ? document.getElementById('q').focus() : location.assign('/search'),
    '?': () => keys.showModal(),
    j: () => links[Math.min(here + 1, links.length - 1)]?.focus(),
    k: () => links[Math.max(here - 1, 0)]?.focus(),
    o: () => links[Math.max(here, 0)]?.click(),
    g: () => {
      const rooms = [...document.querySelectorAll('nav a')];
      rooms[(rooms.findIndex(a => a.ariaCurrent) + 1) % rooms.length].click();
    },
  };
  if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
});
