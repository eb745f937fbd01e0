import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROCESSES } from '../../activities/processes.js';
import type { ProcessNote } from '../../activities/process.js';
import { renderEvents } from './webhook-events.js';

/** A section of a page of `docs` that the code renders, between `<!-- name: made by npm run client -->` and `<!-- /name -->`. */
interface Section {
  page: string;
  name: string;
  render: () => string;
}

const ALERTS = join('docs', 'operate', 'alerts');

const renderRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const renderTable = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [renderRow(header), `|${header.map(() => '---|').join('')}`, ...rows.map(renderRow)].join('\n');

export const renderProcesses = (notes: readonly ProcessNote[]): string =>
  renderTable(
    ['Process', 'Workflow id', 'Shows'],
    notes.map(({ process, workflowId, shows }) => [`\`${process}\``, `\`${workflowId}\``, shows]),
  );

/** Returns a row for each rule, in the order of the rules: its page and the first sentence of the page. */
function renderAlerts(): string {
  const rules = readFileSync(join('deploy', 'prometheus', 'assent.rules.yml'), 'utf8');
  const names = [...rules.matchAll(/^ *- alert: (\w+)$/gm)].map(([, name]) => name as string);
  const rows = names.map((name) => {
    const page = readFileSync(join(ALERTS, `${name}.md`), 'utf8');
    return [`[${name}](${name}.md)`, /^# .*\n\n(.+?)\.(?: |\n)/.exec(page)?.[1] ?? ''];
  });
  return renderTable(['Alert', 'Meaning'], rows);
}

export const SECTIONS: readonly Section[] = [
  { page: join('docs', 'guide', 'webhooks.md'), name: 'events', render: renderEvents },
  {
    page: join('docs', 'operate', 'runs.md'),
    name: 'processes',
    render: () => renderProcesses(PROCESSES.flatMap(({ notes }) => notes)),
  },
  { page: join(ALERTS, 'README.md'), name: 'alerts', render: renderAlerts },
];

/**
 * Returns the page with the section rendered from what it describes.
 * @throws Error the page lacks the comments around the section
 */
export function replaceSection(text: string, { page, name, render }: Section): string {
  const [opening, closing] = [`<!-- ${name}: made by npm run client -->`, `<!-- /${name} -->`];
  const [start, end] = [text.indexOf(opening), text.indexOf(closing)];
  if (start === -1 || end < start) throw new Error(`${page} needs ${opening} and ${closing}`);
  return `${text.slice(0, start + opening.length)}\n\n${render()}\n\n${text.slice(end)}`;
}

export function writeSections(): void {
  for (const section of SECTIONS) writeFileSync(section.page, replaceSection(readFileSync(section.page, 'utf8'), section));
}
