import fc from 'fast-check';
import type { WorkAction } from '../../../../api/gate/work-actions/action.js';
import { WORK_ACTIONS } from '../../../../api/gate/work-actions/catalogue.js';
import { withVisibleNames } from '../../../../api/platform/validation/invisible.js';
import { type Presented, presentActions } from '../../../../api/gate/staging/present.js';

// Every value of the parameters is in a line: nothing that is performed stays unseen.

const ACTIONS = WORK_ACTIONS as readonly WorkAction[];
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 });
const leaf = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('\u202Egnp.exe', 'a\u200Bb', 'a" , "b": "c', '$3'),
);
const value = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 4 }),
  fc.dictionary(text, leaf, { maxKeys: 4 }),
  fc.json({ maxDepth: 3 }).map((json) => JSON.parse(json)),
);
const arbitraryField = fc.constantFrom(
  ...new Set(ACTIONS.flatMap(({ schema }) => Object.keys(schema.shape))),
  'url',
  'headers',
  'body',
  'message',
);
const params = fc.dictionary(arbitraryField, value, { maxKeys: 8 });

/** The values of a record, however deep, as a line shows them. */
function listLeaves(given: unknown): string[] {
  if (given === null || given === undefined) return [];
  if (typeof given === 'object') return Object.values(given).flatMap(listLeaves);
  return [String(given as string | number | boolean)];
}

const buildPresented = (spec: WorkAction | null, given: Record<string, unknown>, before: boolean): Presented => ({
  index: 0,
  type: 'http_request',
  label: 'Send an HTTP request',
  tool: (spec?.tool ?? null) as Presented['tool'],
  entity_type: spec?.entity ?? null,
  entity_id: 'a-task',
  title: 'The target',
  params: given,
  before: before ? { effect: 'low' } : null,
  after: before ? { effect: 'high' } : {},
  risk: 'low',
  reversible: false,
});

/** Texts of a line, and the same as JSON writes them inside of a text. */
const listShown = (line: ReturnType<typeof presentActions>[number]): string =>
  [line.title, ...line.fields.flatMap(({ name, before, after }) => [name, before, after])].join('\n');
const asShown = (leafText: string): string[] => {
  const inJson = JSON.stringify(leafText);
  return [withVisibleNames(leafText), withVisibleNames(inJson), withVisibleNames(inJson.slice(1, -1))];
};
/** Words that stand for a value that our own lists know. */
const WORDS = ['the new', 'what step', 'is ', 'blocks', 'belongs to'];

it.each([['what is sent', null] as const, ...ACTIONS.map((spec) => [spec.tool, spec] as const)])(
  'every value of the parameters is in a line: %s',
  (_what, spec) => {
    fc.assert(
      fc.property(params, fc.boolean(), (given, before) => {
        const [line] = presentActions([buildPresented(spec, given, before)], {});
        const shown = listShown(line as never);
        for (const one of listLeaves(given)) {
          if (one === '' || /^\$\d+$/.test(one)) continue;
          expect(asShown(one).some((way) => shown.includes(way)) || WORDS.some((word) => shown.includes(word))).toBe(true);
        }
        expect(shown).not.toMatch(/[\u202E\u200B]/);
      }),
      { numRuns: 300, seed: 20_261_123 },
    );
  },
);

it('a key that is null in the parameters is shown, because it clears a field', () => {
  const spec = ACTIONS.find(({ tool }) => tool === 'task.update') as WorkAction;
  const [line] = presentActions([buildPresented(spec, { due_date: null }, true)], {});
  expect(line?.fields).toContainEqual({ name: 'due date', before: null, after: null, kind: 'text' });
});

it('an id stands beside a name that two items share, and a reference names what is created', () => {
  const base = buildPresented(ACTIONS.find(({ tool }) => tool === 'relation.create') as WorkAction, {}, false);
  const ids = { source_id: 'one', target_id: 'two', relation_type: 'related_to' };
  const [line] = presentActions([{ ...base, params: ids, after: ids }], { one: 'Same', two: 'Same' });
  expect(line?.fields.map(({ name, after }) => [name, after])).toEqual([
    ['item', 'Same (one)'],
    ['related item', 'Same (two)'],
    ['relation', 'is related to'],
  ]);
  const created = {
    ...buildPresented(ACTIONS.find(({ tool }) => tool === 'task.create') as WorkAction, { title: 'New one' }, false),
    entity_id: null,
    title: 'New one',
  };
  const child = { ...base, index: 1, params: { ...ids, target_id: '$0' }, after: { ...ids, target_id: '$0' } };
  const lines = presentActions([created, child], {});
  expect(lines[1]?.fields).toContainEqual({
    name: 'related item',
    before: null,
    after: 'the new “New one” of step 0',
    kind: 'id',
  });
});

it('a secret is shown by its name, wherever its mark stands', () => {
  const mark = 'secret-0b5e7a1c';
  const action = {
    ...buildPresented(null, { headers: { authorization: `Bearer ${mark}` }, body: { deep: [{ key: mark }] } }, false),
    secrets: { [mark]: 'TOKEN' },
  };
  const [line] = presentActions([action], {});
  expect(JSON.stringify(line)).not.toContain(mark);
  expect(line?.fields.map(({ after }) => after)).toEqual([
    'Bearer {{secret:TOKEN}}',
    expect.stringContaining('{{secret:TOKEN}}'),
  ]);
});

it('two keys that differ do not look alike', () => {
  const [line] = presentActions([buildPresented(null, { payload: { amount_due: 1, 'amount due': 9 } }, false)], {});
  expect(line?.fields.map(({ name }) => name)).toEqual(['payload · amount_due', 'payload · amount due']);
});
