import type { OutboundContext, OutboundResult } from '../../../gate/contract/action-type.js';
import { accessToken } from '../connections.js';
import type { Provider } from '../provider.js';
import { callForge, findMade, type Made, marked, NEEDS, toOutcome } from './call-forge.js';

interface Writing {
  /** Path of the POST. */
  path: string;
  /** Path that lists the entries of `path`. */
  list: string;
  fields: { title?: string; body: string };
  show: (made: Made) => Record<string, unknown>;
}

/** Writes as the automation's creator, unless an earlier attempt already did. */
export async function writeOnForge(
  provider: Provider,
  context: OutboundContext,
  { path, list, fields, show }: Writing,
): Promise<OutboundResult> {
  const token = await accessToken(context.services, provider, context.creator_id, NEEDS.scopes);
  context.hidden.add(token);
  const before = await findMade(context, token, list);
  if (before) return { output: { status: 200, ...show(before) } };
  const body = { ...fields, body: marked(context, fields.body) };
  return toOutcome(await callForge(context.services.config, token, 'POST', path, body), show);
}
