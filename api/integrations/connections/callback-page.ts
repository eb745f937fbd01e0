import type { Completion } from './complete-connection.js';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] as string);

/** Renders the page after the OAuth redirect. It names both accounts, so that a wrong connection is visible. */
export function callbackPage({ label, account, person }: Completion): string {
  const [title, text] =
    account === null
      ? [`${label} is not connected`, 'You declined the connection. Nothing was stored.']
      : [`${label} is connected`, `Automations of ${person} now act there as ${account}. Not you? Disconnect it.`];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(title)} · Assent</title></head><body><main><h1>${escape(title)}</h1><p>${escape(text)}</p><p><a href="/app">Back to Assent</a></p></main></body></html>`;
}
