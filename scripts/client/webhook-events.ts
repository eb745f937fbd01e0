import type { WebhookEvent } from '../../api/integrations/webhooks/events/names.js';
import { buildSample, DELIVERED_EVENTS } from '../../api/integrations/webhooks/events/samples.js';

const START = '<!-- events: made by npm run client -->';
const END = '<!-- /events -->';
/** Event whose body the page shows. */
const EXAMPLE: WebhookEvent = 'task.status_changed';

/** Returns a table of all events and the body of one, as Markdown. */
function renderEvents(): string {
  const rows = DELIVERED_EVENTS.map(([name, description]) => `| \`${name}\` | ${description}. |`);
  const table = ['| event | when |', '|---|---|', ...rows].join('\n');
  const body = JSON.stringify(buildSample(EXAMPLE), null, 2);
  return `${table}\n\nFor example \`${EXAMPLE}\`:\n\n\`\`\`json\n${body}\n\`\`\``;
}

/**
 * Returns the guide to webhooks with the section of its events rendered from their declarations.
 * @throws Error the page lacks the comments around the section
 */
export function replaceEvents(page: string): string {
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start === -1 || end < start) throw new Error(`The page needs ${START} and ${END}`);
  return `${page.slice(0, start + START.length)}\n\n${renderEvents()}\n\n${page.slice(end)}`;
}
