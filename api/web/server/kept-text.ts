import type { IncomingMessage } from 'node:http';
import type { Config } from '../../platform/config.js';
import { isOurSite } from './csrf.js';
import { type Fields, readForm } from './read-form.js';

/**
 * Fields in which people write, with the names that a page gives them. A form that meets an expired session is shown with these alone: no password, code,
 * token or secret has such a name, and test/api/web/kept-text.test.ts checks the templates.
 */
const WRITTEN: Readonly<Record<string, string>> = {
  title: 'Title',
  name: 'Name',
  text: 'New task',
  description: 'Description',
  content: 'Text',
  comment: 'Comment',
  goal: 'Goal',
  reason: 'Reason',
  tags: 'Tags',
  message: 'Message',
};
/** Hidden fields that tell forms with one address apart. */
const SETTINGS = ['status', 'parent_comment_id', 'comment_id'];
/** Maximum size of a form whose text is kept, bytes: anyone can send one. */
const MAX_BYTES = 256 * 1024;

export const WRITTEN_FIELDS: readonly string[] = Object.keys(WRITTEN);

/** What was typed into a form that was not accepted. */
export interface KeptText {
  /** Path and query that the form was sent to. */
  action: string;
  written: { name: string; label: string; value: string }[];
  settings: [name: string, value: string][];
}

/** Returns the texts of a form that differ from what it showed; undefined without any. */
export function keptText(action: string, form: Fields): KeptText | undefined {
  const read = (name: string): string => (typeof form[name] === 'string' ? form[name].replaceAll('\r\n', '\n') : '');
  const written = Object.entries(WRITTEN)
    .map(([name, label]) => ({ name, label, value: read(name) }))
    .filter(({ name, value }) => value.trim() !== '' && value !== read(`was-${name}`));
  if (written.length === 0) return undefined;
  const settings = SETTINGS.filter((name) => read(name) !== '').map((name): [string, string] => [name, read(name)]);
  return { action, written, settings };
}

/**
 * Reads what was typed into a form of this site, to show it to the browser that sent it. Undefined for a form of another site, one that is too large, and
 * one that brings a file.
 */
export async function readKeptText(config: Config, request: IncomingMessage, action: string): Promise<KeptText | undefined> {
  if (!isOurSite(config, request)) return undefined;
  const form = await readForm(request, MAX_BYTES).catch(() => ({}));
  return keptText(action, form);
}
