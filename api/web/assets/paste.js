/* A file that is pasted or dropped into a comment or a description is attached to the task, and the text shows or links it. Without this file one attaches it below. */
(() => {
  const FIELDS = 'main textarea[name=content], #i-description';
  const base = (field) => field.form?.getAttribute('action').replace(/\/(?:comments(?:\/.*)?|task)$/, '');

  const sayAt = (field) => {
    const line = document.createElement('small');
    line.setAttribute('role', 'status');
    field.after(line);
    return (text, isWrong) => {
      line.textContent = text;
      line.className = isWrong ? 'wrong' : 'pasting';
      if (text === '') line.remove();
    };
  };
  /* Where the caret is by now; the user goes on typing while the file is sent. */
  const put = (field, text) => {
    const { selectionStart: at, selectionEnd: end, value } = field;
    const before = at > 0 && !/\s$/.test(value.slice(0, at)) ? '\n' : '';
    const after = /^\s/.test(value.slice(end)) ? '' : '\n';
    field.setRangeText(`${before}${text}${after}`, at, end, 'end');
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };

  const send = async (field, file) => {
    const say = sayAt(field);
    const most = Number(document.querySelector('#attach [data-max-bytes]')?.dataset.maxBytes ?? Infinity);
    if (file.size > most) return say(`${file.name} is larger than 25 MB`, true);
    say(`Attaching ${file.name} …`);
    const body = new FormData();
    body.append('_csrf', field.form.elements.namedItem('_csrf').value);
    /* Two files of one name and size are two. */
    body.append('at', `${Date.now()}${Math.random()}`);
    body.append('file', file);
    try {
      const answer = await fetch(`${base(field)}/files/pasted`, { method: 'POST', body, redirect: 'error' });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const text = page.querySelector('main')?.textContent ?? page.body.textContent;
      if (!answer.ok) return say(answer.status < 500 ? text.trim().slice(0, 300) : 'The file was not attached. Try again.', true);
      say('');
      /* A field that was saved and closed meanwhile keeps what was saved: the file is attached all the same. */
      if (field.isConnected && field.checkVisibility()) put(field, text.trim());
    } catch {
      say('The file was not attached: the service cannot be reached.', true);
    }
  };

  const take = (event, { files, types }) => {
    const field = event.target.closest?.(FIELDS);
    /* Cells of a table come with a picture of them: their text is meant. */
    if (!field || files.length === 0 || types.includes('text/plain') || !document.getElementById('attach')) return;
    event.preventDefault();
    for (const file of files) void send(field, file);
  };
  document.addEventListener('paste', (event) => take(event, event.clipboardData));
  document.addEventListener('drop', (event) => take(event, event.dataTransfer));
  document.addEventListener('dragover', (event) => {
    if (event.target.closest?.(FIELDS) && event.dataTransfer.types.includes('Files')) event.preventDefault();
  });
})();
