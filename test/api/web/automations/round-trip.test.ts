import fc from 'fast-check';
import { availableActions } from '../../../../api/automation/actions/registry.js';
import { paramFieldName, readBuilderForm, toDraft, toForm } from '../../../../api/web/pages/automations/builder-form.js';
import { type Draft, readDraft, writeDraft, TEXT_FIELDS } from '../../../../api/web/pages/automations/draft.js';
import { paramFields } from '../../../../api/web/pages/automations/param-fields.js';

// Whatever a definition holds, the form and the JSON of the builder give it back: nothing is lost on the way.

/** What a browser sends of a form: line ends as CR LF, and nothing of empty fields that differs from their absence. */
function send(draft: Draft): Record<string, string> {
  const { fields, steps } = toForm(draft);
  const sent: [string, string][] = TEXT_FIELDS.map((name) => [name, fields[name]]);
  steps.forEach((step, index) => {
    for (const own of ['type', 'name', 'on_failure', 'max_attempts'] as const) sent.push([`s${index}.${own}`, step[own]]);
    for (const { name, isJson, text, unit } of step.params)
      sent.push([paramFieldName(index, name, isJson), text], [`s${index}.u.${name}`, unit]);
  });
  return Object.fromEntries(sent.map(([name, text]) => [name, text.replace(/\r\n|\r|\n/g, '\r\n')]));
}

const base = { name: 'x', description: null, trigger_type: 'task.created', condition: null };
const withActions = (actions: Draft['actions']): Draft => ({
  ...base,
  schedule_cron: null,
  schedule_timezone: null,
  project_id: null,
  actions,
});
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '',
    ' ',
    '\n',
    '\r',
    'a\r\nb',
    'a: b\nc',
    '5',
    '05',
    '{{event.x}}',
    'true',
    '"',
    '[1]',
    ' a ',
    'todo',
    'low',
    'a:b',
  ),
);
const value = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.array(text),
  fc.dictionary(text, text),
  fc.jsonValue(),
);

it('a form gives back every parameter of every action, whatever it holds', () => {
  for (const { type } of availableActions()) {
    const names = [...paramFields(type).map(({ name }) => name), 'unknown key'];
    const params = fc.dictionary(
      fc.constantFrom(...names),
      value.map((each) => JSON.parse(JSON.stringify(each)) as unknown),
    );
    fc.assert(
      fc.property(params, (given) => {
        const draft = withActions([{ type, params: { ...given } }]);
        expect(toDraft(readBuilderForm(send(draft)))).toEqual(draft);
      }),
      { numRuns: 60 },
    );
  }
});

it('form and JSON hold the same definition', () => {
  const draft: Draft = {
    name: 'All of it',
    description: 'Two words',
    trigger_type: 'schedule',
    condition: 'event.type == "x" &&\n  true',
    schedule_cron: '0 9 * * MON',
    schedule_timezone: 'Europe/Berlin',
    project_id: '0197a000-0000-7000-8000-000000000002',
    actions: [
      { type: 'require_approval', name: 'Ask', params: { role: 'admin', allow_self_approval: false, required_approvals: 2 } },
      {
        type: 'http_request',
        params: { method: 'POST', url: 'https://a.example/', headers: { a: 'b: c' }, body: { n: [1, null, { x: '\r\n' }] } },
        on_failure: 'stop',
        retry: { max_attempts: 4 },
      },
      {
        type: 'update_task',
        params: { due_date: null, tags: ['a', 'b'], estimated_hours: '{{event.hours}}', title: '  a\n\nb ' },
      },
    ],
  };
  expect(readDraft(writeDraft(draft))).toEqual(draft);
  expect(toDraft(readBuilderForm(send(draft)))).toEqual(draft);
  expect(toDraft(toForm(readDraft(writeDraft(draft))))).toEqual(draft);
});

it('reads what is typed by the kind of its field', () => {
  const given = {
    's0.type': 'http_request',
    's0.p.headers': 'accept: text/plain\r\n\r\nx-a:b',
    's0.p.body': '{"a": 1}',
    's1.type': 'delay',
    's1.p.seconds': '60',
    's1.max_attempts': '2',
    's2.type': 'notify',
    's2.p.user_ids': 'a\r\n\r\nb',
    's2.p.role': '',
    's100.type': 'delay',
    's2.nonsense': 'x',
  };
  expect(toDraft(readBuilderForm(given)).actions).toEqual([
    { type: 'http_request', params: { headers: { accept: 'text/plain', 'x-a': 'b' }, body: { a: 1 } } },
    { type: 'delay', params: { seconds: 60 }, retry: { max_attempts: 2 } },
    { type: 'notify', params: { user_ids: ['a', 'b'] } },
  ]);
  expect(() => toDraft(readBuilderForm({ 's0.type': 'http_request', 's0.p.headers': 'nonsense' }))).toThrow('s0.p.headers');
  expect(() => toDraft(readBuilderForm({ 's0.type': 'http_request', 's0.j.body': '{' }))).toThrow('s0.j.body');
});
