import { buildData } from '../../../../api/agent/providers/prompt/build-data.js';
import { dataJson, fenced } from '../../../../api/agent/providers/prompt/fence.js';
import { Handles } from '../../../../api/agent/providers/prompt/handles.js';
import type { LinkedWorld, ReadItem } from '../../../../api/agent/providers/reading/read-linked-items.js';

// What a prompt says of linked items, and how much.

const item = (at: number, fields: Partial<ReadItem> = {}): ReadItem => ({
  item_id: `task-${at}`,
  is_lost: false,
  item_type: 'task',
  title: `Task ${at}`,
  status: 'todo',
  team_id: 'team',
  project_id: 'project',
  project_name: 'Apollo',
  updated_at: new Date(Date.UTC(2026, 10, 1 + at)),
  body: 'x'.repeat(1_000),
  priority: 'low',
  due_date: null,
  assigned_to: null,
  is_archived: false,
  parent_task_id: null,
  tags: [],
  start_date: null,
  end_date: null,
  by_status: null,
  comments: [],
  is_external_allowed: true,
  ...fields,
});
const buildWorld = (items: ReadItem[]): LinkedWorld => ({ items, lost: 0, relations: [], members: [] });
type Shown = { handle: string; title: string; description?: string; comments?: { text: string }[]; cut?: boolean };
const shownIn = (items: ReadItem[], bytes: number): { items: Shown[]; items_left_out?: number } =>
  buildData(buildWorld(items), new Handles(), 'user', bytes) as never;
const readSize = (items: ReadItem[], bytes: number): number =>
  Buffer.byteLength(fenced('n', dataJson(buildData(buildWorld(items), new Handles(), 'user', bytes))));

it('shows all heads first, then the texts of what changed last', () => {
  const { items } = shownIn(
    Array.from({ length: 10 }, (_, at) => item(at)),
    6_000,
  );
  expect(items.map(({ handle }) => handle)).toEqual(Array.from({ length: 10 }, (_, at) => `T${at + 1}`));
  const described = items.filter(({ description }) => description !== undefined).map(({ title }) => title);
  expect(described.at(-1)).toBe('Task 9');
  expect(described).not.toContain('Task 0');
  expect(items[0]?.cut).toBe(true);
  expect(items[9]?.cut).toBeUndefined();
});

it('drops items that do not fit, and says how many', () => {
  const { items, items_left_out } = shownIn(
    Array.from({ length: 50 }, (_, at) => item(at)),
    3_000,
  );
  expect(items.length + (items_left_out ?? 0)).toBe(50);
  expect(items_left_out).toBeGreaterThan(0);
});

it.each([
  ['plain', 'x'],
  ['that is escaped', '<'],
  ['of quotes', '"'],
  ['of four bytes', '😀'],
  ['that is invisible', '\u202e\u200b'],
])('keeps within its bytes for text %s', (_what, character) => {
  const text = character.repeat(3_000);
  const comments = Array.from({ length: 5 }, () => ({ author_id: 'u', at: '2026-11-01T00:00:00Z', text }));
  const items = Array.from({ length: 50 }, (_, at) => item(at, { title: text.slice(0, 200), body: text, comments }));
  for (const bytes of [6_000, 36_000, 96_000]) expect(readSize(items, bytes)).toBeLessThanOrEqual(bytes * 1.1 + 2_000);
});

it('cuts a text whose escapes do not fit, instead of leaving it out', () => {
  const [shown] = shownIn([item(0, { body: '<'.repeat(1_400) })], 5_000).items;
  expect(shown?.description?.length).toBeGreaterThan(100);
  expect(shown?.cut).toBe(true);
});

it('gives a handle to what it names, the same in each step', () => {
  const handles = new Handles();
  buildData(buildWorld([item(0), item(1)]), handles, 'me', 10_000);
  const again = new Handles(handles.stored());
  buildData(buildWorld([item(2), item(1)]), again, 'me', 10_000);
  expect(again.resolve('T1')?.id).toBe('task-0');
  expect(again.resolve('T2')?.id).toBe('task-1');
  expect(again.resolve('T3')?.id).toBe('task-2');
  expect(again.resolve('P1')).toMatchObject({ id: 'project', isLinked: false });
  for (const other of ['task-0', 'T9', '', '__proto__', 'constructor', 7, null, { handle: 'T1' }])
    expect(again.resolve(other)).toBeUndefined();
});
