import type { ActionLine } from '../../../api/gate/staging/schema.js';
import { createFormatter } from '../../../api/web/wording/formatter.js';

// The headline of a decision: what its riskiest action would change, in the words of Assent.

const line = (given: Partial<ActionLine>): ActionLine => ({
  index: 0,
  type: 'set_task_status',
  verb: 'Tidy up (Change status)',
  title: 'Fix the crane',
  href: null,
  risk: 'low',
  reversible: true,
  is_deletion: false,
  fields: [{ name: 'status', before: 'todo', after: 'done', kind: 'text' }],
  refused: null,
  skipped: null,
  changed: null,
  ...given,
});
const { question } = createFormatter(null);
const field = (name: string, before: string | null, after: string | null) => ({ name, before, after, kind: 'text' as const });

it('names the change and the task, never the name that an automation gives its action', () => {
  expect(question([line({})])).toEqual({
    verb: 'Close',
    title: 'Fix the crane',
    href: null,
    more: 0,
    change: { name: null, before: 'To do', after: 'Done' },
    isWhole: true,
    text: 'Close “Fix the crane”',
  });
  expect(question([line({ type: 'task.set_status', fields: [field('status', 'done', 'todo')] })])).toMatchObject({
    verb: 'Change status of',
    change: { before: 'Done', after: 'To do' },
  });
  const cancel = [field('status', 'todo', 'done'), field('resolution', null, 'canceled')];
  expect(question([line({ fields: cancel })])).toMatchObject({ verb: 'Close', change: { before: 'To do', after: 'Canceled' } });
  const reopen = [field('status', 'done', 'todo'), field('resolution', 'canceled', null)];
  expect(question([line({ fields: reopen })])).toMatchObject({ change: { before: 'Canceled', after: 'To do' } });
});

it('neither asks about an action that a condition skips, nor counts it', () => {
  const skipped = line({ title: 'Another', skipped: "event.task.priority == 'urgent' is false", fields: [] });
  expect(question([skipped, line({})])).toMatchObject({ text: 'Close “Fix the crane”', more: 0 });
  expect(question([skipped])).toBeUndefined();
});

it('asks about the riskiest action first and counts the others', () => {
  const removal = line({ type: 'task.delete', risk: 'high', title: 'Old page', is_deletion: true, fields: [] });
  expect(question([line({}), removal, line({})])).toMatchObject({ text: 'Delete task “Old page” and 2 more', change: null });
});

it.each([
  ['assign_task', [field('assigned to', null, 'Max')], { name: null, before: 'none', after: 'Max' }],
  [
    'update_task',
    [field('priority', 'low', 'urgent'), field('title', 'A', 'A')],
    { name: 'priority', before: 'low', after: 'urgent' },
  ],
  [
    'update_task',
    [field('priority', 'low', 'high'), field('title', 'A', 'B')],
    { name: null, before: null, after: 'priority, title' },
  ],
  ['update_task', [field('description', 'x'.repeat(61), 'y')], { name: null, before: null, after: 'description' }],
  ['add_comment', [field('content', null, 'Hello')], null],
])('%s shows a short change, or the names of the fields', (type, fields, change) => {
  expect(question([line({ type, fields })])?.change).toEqual(change);
});

it('an action without a target is its label; nothing to do is no question', () => {
  expect(question([line({ type: 'http_request', title: null, fields: [] })])?.text).toBe('Send an HTTP request');
  const request = (url: string) =>
    question([line({ type: 'http_request', title: null, fields: [field('method', null, 'POST'), field('url', null, url)] })])
      ?.text;
  expect(request('https://user:pass@hooks.example.com:8443/a?b=c')).toBe('POST to hooks.example.com:8443');
  expect(request('https://example.com.evil.test/')).toBe('POST to example.com.evil.test');
  expect(request('https://{{secrets.host}}/a')).toBe('POST to {{secrets.host}}');
  expect(request(`https://${'a.'.repeat(40)}example.com`)).toBe('Send an HTTP request');
  expect(question([])).toBeUndefined();
});

const words = createFormatter(null);
it.each([
  ['create_task', [field('assigned to', null, 'Max')], 'medium risk: gives work to another user'],
  [
    'task.create',
    [field('assigned to', null, 'Max'), field('recurrence', null, 'weekly')],
    'medium risk: gives work to another user, repeats',
  ],
  ['add_comment', [field('content', null, '@max')], 'medium risk: mentions a user'],
  ['task.assign', [field('assigned to', null, 'Max')], 'medium risk: gives work to another user'],
  ['assign_task', [field('assigned to', 'Uma', 'Max')], 'medium risk: takes work from a user'],
  ['task.set_status', [field('status', 'done', 'todo')], 'medium risk: reopens'],
  ['task.delete', [], 'medium risk: deletes'],
  ['operation', [], 'medium risk: Assent does not know what it does'],
  ['http_request', [], 'medium risk: sent to another service'],
  ['update_task', [field('priority', 'high', 'low')], 'medium risk'],
])('%s says why its risk is medium, as far as no field shows it', (type, fields, text) => {
  expect(words.risk(line({ type, fields, risk: 'medium' }))).toBe(text);
  expect(words.risk(line({ type, fields, risk: 'high' }))).toBe('high risk');
});

it('a message that only repeats the question adds nothing to it; one word more does', () => {
  const { adds } = createFormatter(null);
  const asked = question([line({})]);
  expect(adds('Close fix the crane?', asked)).toBe(false);
  expect(adds('Do NOT close “Fix the crane”', asked)).toBe(true);
  expect(adds('Close it', undefined)).toBe(true);
});
