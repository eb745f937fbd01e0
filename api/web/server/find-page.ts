import { DomainError, notFound } from '../../platform/errors.js';
import type { Page } from '../page.js';

/** Returns the text of a part of a path, as links encode it; as it stands if it is no valid encoding. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the values of `:name` parts; undefined if the path does not match exactly, including case and slashes. */
function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const value = given[at] as string;
    if (part.startsWith(':') && value !== '') params[part.slice(1)] = decoded(value);
    else if (part !== value) return undefined;
  }
  return params;
}

/**
 * Returns the page of a method and path. HEAD counts as GET.
 * @throws RESOURCE_NOT_FOUND | METHOD_NOT_ALLOWED with Allow
 */
export function findPage(pages: readonly Page[], method: string, path: string): { page: Page; params: Record<string, string> } {
  const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
  const here = pages.flatMap((page) => {
    const params = matchPath(page.path, path);
    return params && (page.isNamed?.(params) ?? true) ? [{ page, params }] : [];
  });
  const found = here.find(({ page }) => page.method === wanted);
  if (found) return found;
  if (here.length === 0) throw notFound('Page');
  const allowed = here.flatMap(({ page }) => (page.method === 'get' ? ['GET', 'HEAD'] : ['POST']));
  throw new DomainError('METHOD_NOT_ALLOWED', `${method} is not allowed here`, { headers: { Allow: allowed.join(', ') } });
}
