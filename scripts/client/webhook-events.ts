import type { WebhookEvent } from '../../api/integrations/webhooks/events/names.js';
import { buildSample, DELIVERED_EVENTS } from '../../api/integrations/webhooks/events/samples.js';

/** Event whose body the page shows. */
const EXAMPLE: WebhookEvent = 'task.status_changed';

/** Returns a table of all events and the body of one, as Markdown. */
export function renderEvents(): string {
  const rows = DELIVERED_EVENTS.map(([name, description]) => `| \`${name}\` | ${description}. |`);
  const table = ['| event | when |', '|---|---|', ...rows].join('\n');
  const body = JSON.stringify(buildSample(EXAMPLE), null, 2);
  return `${table}\n\nFor example \`${EXAMPLE}\`:\n\n\`\`\`json\n${body}\n\`\`\``;
}
