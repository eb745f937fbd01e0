/* Resolves the references of one operation. Swagger UI's own way reads the whole document again for each operation that opens: seconds. */

/** Returns what a reference such as `#/components/schemas/Task` points to. */
const resolveTarget = (document, ref) =>
  ref
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((value, key) => value?.[key], document);

/**
 * Returns a copy with the references replaced. `inside` are those it stands in, which stay, as a schema may contain itself. Swagger UI
 * reads the name of a schema from `$$ref`, and takes what has one instead of the reference.
 */
function inlined(value, document, inside) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => inlined(item, document, inside));
  const { $ref, ...rest } = value;
  const follow = typeof $ref === 'string' && $ref.startsWith('#/') && !inside.includes($ref);
  const entries = Object.entries(follow ? rest : value).map(([key, inner]) => [key, inlined(inner, document, inside)]);
  const own = Object.fromEntries(entries);
  return follow ? { ...inlined(resolveTarget(document, $ref), document, [...inside, $ref]), ...own, $$ref: $ref } : own;
}

/** Takes the place of Swagger UI's function of this name. Our document refers to nothing outside of itself. */
export async function resolveSubtree(document, path) {
  const found = path.reduce((value, key) => value?.[key], document);
  return { spec: inlined(found, document, []) ?? null, errors: [] };
}
