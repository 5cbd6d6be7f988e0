// What a page can do with a script: refresh what is live, keys, and copying. Without it every page is complete.
const line = document.getElementById('link');
const say = (text, link) => {
  line.hidden = !text;
  line.textContent = text;
  if (!link) return;
  const a = document.createElement('a');
  a.href = location.href;
  a.textContent = link;
  line.append(': ', a);
};
let live = '', out = false; // what a stream that works says; whether nobody is signed in
const signedOut = () => { out = true; say('Signed out', 'sign in'); };

// Only the server makes pages: what is live is fetched again as a part of the page, and replaced.
let waiting = false, again = false, at = 0, passed = 0;
async function refresh() {
  if (out) return;
  if (waiting || document.hidden) { again = waiting; return; }
  waiting = true;
  await new Promise(done => setTimeout(done, Math.max(0, at + 1000 - Date.now())));
  const told = passed;
  passed = 0;
  try {
    const answer = await fetch(location.href, {headers: {Accept: 'text/html'}});
    if (answer.status === 401) { signedOut(); return; }
    if (!answer.ok && answer.status !== 400) return;
    const made = new DOMParser().parseFromString(await answer.text(), 'text/html');
    // What began and ends between two looks of the stream is told by no event.
    if (made.querySelector('[data-busy]')) setTimeout(refresh, 2000);
    for (const old of document.querySelectorAll('[data-swap]')) {
      const fresh = made.getElementById(old.id);
      if (!fresh || old.contains(document.activeElement) && document.activeElement.matches('a, button, input, summary')) continue;
      const opened = [...old.querySelectorAll('details[open]')].map(d => d.id);
      old.replaceChildren(...fresh.childNodes);
      for (const d of old.querySelectorAll('details')) d.open = opened.includes(d.id);
      const unseen = 'all' in old.dataset ? told - old.querySelectorAll('tbody tr').length : 0;
      if (live && 'all' in old.dataset) say(unseen > 0 ? `${live}, ${unseen} more than fit` : live);
    }
  } catch { /* the stream tells */ } finally {
    waiting = false;
    at = Date.now();
    if (again) { again = false; refresh(); }
  }
}

// A stream that ends is opened again by the browser, unless the answer was an error: whether that was because nobody is
// signed in is seen by asking for the page.
function listen(path) {
  const stream = new EventSource(path);
  const restarted = sessionStorage.getItem('restarted');
  sessionStorage.removeItem('restarted');
  stream.addEventListener('hello', event => {
    if (JSON.parse(event.data).instance === document.body.dataset.instance) {
      live = restarted ? 'Live, readthru was restarted' : 'Live';
      say(live);
      refresh();
      return;
    }
    stream.close(); // another daemon, perhaps another version
    if (document.activeElement.matches('input, textarea, select')) { // somebody writes
      live = '';
      say('readthru was restarted', 'load this page again');
      return;
    }
    sessionStorage.setItem('restarted', '1');
    location.reload();
  });
  stream.addEventListener('requests', event => {
    const {requests, dropped = 0} = JSON.parse(event.data);
    passed += requests.length + dropped;
    refresh();
  });
  stream.addEventListener('work', refresh);
  stream.onerror = () => {
    if (out) return;
    live = '';
    say('Connection lost, trying again');
    refresh();
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => out || listen(path), 5000);
  };
}
if (document.body.dataset.live) {
  listen(document.body.dataset.live);
  document.addEventListener('visibilitychange', refresh);
}
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
      const rooms = [...document.querySelectorAll('header nav a')];
      rooms[(rooms.findIndex(a => a.ariaCurrent) + 1) % rooms.length].click();
    },
  };
  if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
});
