import type { OutboundContext, OutboundResult } from '../../actions/action-type.js';
import { accessToken } from '../connections.js';
import type { Provider } from '../provider.js';
import { callForge, findMade, type Made, marked, NEEDS, outcomeOf } from './call-forge.js';

interface Writing {
  /** What is written to. */
  path: string;
  /** What lists what was written there. */
  list: string;
  fields: { title?: string; body: string };
  show: (made: Made) => Record<string, unknown>;
}

/** Writes as the automation's creator, unless an attempt before this one already did. */
export async function writeOnForge(
  provider: Provider,
  errand: OutboundContext,
  { path, list, fields, show }: Writing,
): Promise<OutboundResult> {
  const token = await accessToken(errand.services, provider, errand.creator_id, NEEDS.scopes);
  errand.hidden.add(token);
  const before = await findMade(errand, token, list);
  if (before) return { output: { status: 200, ...show(before) } };
  const body = { ...fields, body: marked(errand, fields.body) };
  return outcomeOf(await callForge(errand.services.config, token, 'POST', path, body), show);
}
