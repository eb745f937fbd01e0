import { presentOperations } from '../../../gate/requests/present-operations.js';
import type { ChangeRequest } from '../../../gate/requests/schema.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';
import { wordPlace } from '../../wording/place-words.js';
import { wordDiff } from '../../wording/word-diff.js';
import { showLines, type ShownLine } from '../agent/plan-lines.js';

const SOURCES: Readonly<Record<ChangeRequest['source'], string>> = {
  api: 'a program',
  cli: 'a command line',
  mcp: 'an outside agent',
  gateway: 'the gateway of other MCP servers',
};

/** An argument is named in words, a claim is named already. */
const wordName = (name: string): string => (name.startsWith('/') ? wordPlace(name) : name);

/** A change request as its card shows it. */
export interface RequestCard extends Omit<ChangeRequest, 'context' | 'operations'> {
  lines: ShownLine[];
  /** Places of the arguments as JSON pointers, in the order of the lines. */
  places: string[];
  /** What asked, in words. */
  from: string;
  /** Claims of the requester beside the operations. */
  claims: [string, string][];
  isEdited: boolean;
  /** The reader has approved the present text. */
  hasApproved: boolean;
  /** Comments and decisions of the present text and of earlier ones. */
  isMine: boolean;
}

/** Returns requests as their cards show them to a user. */
export function buildRequestCards(userId: string, requests: readonly ChangeRequest[]): RequestCard[] {
  const compare = wordDiff();
  return requests.map(({ context, operations, ...request }) => {
    const own = request.decisions.filter(({ user_id, revision }) => user_id === userId && revision === request.revision);
    const shown = showLines(presentOperations(operations as Parameters<typeof presentOperations>[0]), compare);
    const hasApproved = own.some(({ decision }) => decision === 'approved');
    return {
      ...request,
      lines: shown.map((line) => ({ ...line, fields: line.fields.map((field) => ({ ...field, name: wordName(field.name) })) })),
      places: shown.flatMap(({ fields }) => fields.map(({ name }) => name).filter((name) => wordName(name) !== name)),
      from: SOURCES[request.source],
      claims: Object.entries(context ?? {}).map(([name, text]) => [withVisibleNames(name), withVisibleNames(text)]),
      isEdited: request.revision > 1,
      hasApproved,
      isMine: request.can_decide && !hasApproved,
    };
  });
}
