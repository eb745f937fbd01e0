import type { OutboundAction } from '../../gate/contract/action-type.js';
import { notFound } from '../../platform/errors.js';
import { forge } from './forge/provider.js';
import type { Provider } from './provider.js';

const providers: Provider[] = [forge];

export const listProviders = (): readonly Provider[] => providers;

/** Registers a service, before the first request and before the worker starts. Returns what removes it again. */
export function registerProvider(provider: Provider): () => void {
  providers.push(provider);
  return () => void providers.splice(providers.indexOf(provider), 1);
}

/** @throws RESOURCE_NOT_FOUND */
export function findProvider(key: string): Provider {
  const provider = providers.find((each) => each.key === key);
  if (!provider) throw notFound('Integration');
  return provider;
}

/** Returns the actions of all services. */
export const integrationActions = (): readonly OutboundAction[] => providers.flatMap(({ actions }) => actions);
