import type { z } from 'zod';

type Query = Record<string, unknown>;

const isDeepObject = (schema: z.ZodType): boolean =>
  (schema.meta() as { param?: { style?: string } } | undefined)?.param?.style === 'deepObject';

/**
 * Collects parameters such as `custom_field[severity]=high` as one object under `custom_field`, where the schema declares the style
 * deepObject. What begins with the name and a bracket belongs to it, however it ends: a filter must not be ignored because of a typo.
 */
export function collectDeepObjects(schema: z.ZodType | undefined, query: Query): Query {
  const shape = (schema as Partial<z.ZodObject> | undefined)?.shape ?? {};
  let collected = query;
  for (const [name, field] of Object.entries(shape)) {
    if (!isDeepObject(field as z.ZodType)) continue;
    const isMember = ([key]: [string, unknown]): boolean => key.startsWith(`${name}[`);
    const entries = Object.entries(collected);
    const members = entries
      .filter(isMember)
      .map(([key, value]) => [key.slice(name.length + 1).replace(/\]$/, ''), value] as const);
    if (members.length === 0) continue;
    const others = entries.filter((entry) => !isMember(entry));
    // Both forms at once are no object, which the schema refuses.
    const value = Object.hasOwn(collected, name) ? collected[name] : Object.fromEntries(members);
    collected = Object.fromEntries([...others.filter(([key]) => key !== name), [name, value]]);
  }
  return collected;
}
