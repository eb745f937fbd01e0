import type { LanguageModelV3FunctionTool } from '@ai-sdk/provider';
import type { Context } from '../../../platform/context.js';
import { withoutInvisible } from '../../../platform/validation/invisible.js';
import { toComment, describeHead, describeMembers } from '../prompt/build-data.js';
import { cutText, dataJson } from '../prompt/fence.js';
import type { Handles, Target } from '../prompt/handles.js';
import { type LinkedWorld, type ReadItem, type ReadLimits, readLinkedWorld } from '../reading/read-linked-items.js';

/** Maximum size of one result, bytes. */
const MAX_RESULT_BYTES = 8_192;
/** Lengths of a single item that is read on purpose, characters. */
const ITEM_TEXT = 6_000;
const COMMENTS = 30;
const COMMENT_TEXT = 1_000;
/** Text of each item that a search looks through, characters. */
const SEARCHED_TEXT = 4_000;
const MAX_FOUND = 20;
const MAX_QUERY = 200;

/** Arguments of a call after `JSON.parse`: an object with anything in it. */
export type CallInput = Readonly<Record<string, unknown>>;

/** A call that cannot be carried out, in words for the model. They repeat nothing that it read. */
export class CallRefused extends Error {}

const object = (properties: Record<string, object>): LanguageModelV3FunctionTool['inputSchema'] => ({
  type: 'object',
  properties: properties as never,
  required: Object.keys(properties),
  additionalProperties: false,
});
const item = { type: 'string', description: 'Handle of a linked item, such as T1' };

const declared = (name: string, description: string, properties: Record<string, object>): LanguageModelV3FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: object(properties),
});

/** Tools that read. They see the linked items of the session and nothing else. */
export const READ_TOOLS: LanguageModelV3FunctionTool[] = [
  declared('read_item', 'Reads a linked item with its whole text.', { item }),
  declared('read_comments', 'Reads the newest comments of a linked task.', { item }),
  declared('find', 'Finds linked items whose title, text or tags contain some words.', {
    text: { type: 'string', description: 'Words in any case' },
  }),
  declared('members', 'Lists the members of the teams of the linked items.', {}),
];

const NAMES = READ_TOOLS.map(({ name }) => name);
export const isReadTool = (name: string): boolean => NAMES.includes(name);

interface Reading {
  handles: Handles;
  input: CallInput;
  read: (limits: ReadLimits) => Promise<LinkedWorld>;
}

/** @throws CallRefused for anything but the handle of a linked item */
function linkedTarget({ handles, input }: Reading): Target {
  const target = handles.resolve(input['item']);
  if (!target?.isLinked || target.type === 'user' || target.type === 'relation')
    throw new CallRefused('item is not the handle of a linked item');
  return target;
}

/** @throws CallRefused if the item is no longer linked or readable */
async function readOne(reading: Reading, limits: Omit<ReadLimits, 'only'>): Promise<ReadItem> {
  const { id } = linkedTarget(reading);
  const { items } = await reading.read({ ...limits, only: [id] });
  const found = items.find(({ item_id }) => item_id === id);
  if (!found) throw new CallRefused('the item is no longer linked, or can no longer be read');
  return found;
}

/** Returns as many entries as fit into a result, in order. */
function fitting(entries: Record<string, unknown>[]): { entries: Record<string, unknown>[]; cut?: true } {
  let bytes = 200;
  const kept = entries.filter((entry) => {
    bytes += Buffer.byteLength(dataJson(entry)) + 2;
    return bytes <= MAX_RESULT_BYTES;
  });
  return kept.length < entries.length ? { entries: kept, cut: true } : { entries: kept };
}

async function readItem(reading: Reading): Promise<unknown> {
  const found = await readOne(reading, { textLength: ITEM_TEXT, comments: 0, commentLength: 0 });
  const head = describeHead(found, reading.handles);
  for (let max = ITEM_TEXT; ; max = Math.floor(max * 0.7)) {
    const { text, isCut } = cutText(found.body ?? '', max);
    const whole = { ...head, text, ...(isCut ? { cut: true } : {}) };
    if (max < 100 || Buffer.byteLength(dataJson(whole)) <= MAX_RESULT_BYTES) return whole;
  }
}

async function readComments(reading: Reading): Promise<unknown> {
  const found = await readOne(reading, { textLength: 0, comments: COMMENTS, commentLength: COMMENT_TEXT });
  // The newest ones matter most, so they are kept first.
  const newest = found.comments.toReversed().map((comment) => toComment(comment, reading.handles, COMMENT_TEXT));
  const { entries, ...rest } = fitting(newest);
  return { item: reading.handles.of(found.item_type, found.item_id), comments: entries.toReversed(), ...rest };
}

const folded = (text: string): string => withoutInvisible(text).normalize('NFKC').toLowerCase();

async function find(reading: Reading): Promise<unknown> {
  const { text } = reading.input;
  if (typeof text !== 'string' || text.trim() === '') throw new CallRefused('text is missing');
  const words = folded(text.slice(0, MAX_QUERY)).split(/\s+/).filter(Boolean);
  const { items } = await reading.read({ textLength: SEARCHED_TEXT, comments: 0, commentLength: 0 });
  const hits = items.filter(({ title, body, tags }) => {
    const all = folded([title, body ?? '', ...(tags ?? [])].join('\n'));
    return words.every((word) => all.includes(word));
  });
  const { entries, ...rest } = fitting(hits.slice(0, MAX_FOUND).map((hit) => describeHead(hit, reading.handles)));
  return { found: entries, ...rest };
}

async function members(reading: Reading): Promise<unknown> {
  const world = await reading.read({ textLength: 0, comments: 0, commentLength: 0, only: [] });
  const { entries, ...rest } = fitting(describeMembers(world, reading.handles));
  return { members: entries, ...rest };
}

const READERS: Record<string, (reading: Reading) => Promise<unknown>> = {
  read_item: readItem,
  read_comments: readComments,
  find,
  members,
};

/**
 * Performs a call of a reading tool and returns at most 8 kB of JSON. Links, trash and roles are read anew.
 * @throws CallRefused for an unknown handle, or an item that can no longer be read
 */
export async function performRead(
  ctx: Context,
  sessionId: string,
  handles: Handles,
  name: string,
  input: CallInput,
): Promise<string> {
  const reader = isReadTool(name) ? READERS[name] : undefined;
  if (!reader) throw new CallRefused('there is no such tool');
  return dataJson(await reader({ handles, input, read: (limits) => readLinkedWorld(ctx, sessionId, limits) }));
}
