import type { z } from 'zod';

/** Picks the fields of an update that a record gives; null in a field that cannot be null counts as absent, as at creation. */
export function given<T>(schema: z.ZodObject & z.ZodType<T>, record: Record<string, unknown>): T {
  const entries = Object.entries(record).filter(
    ([key, value]) =>
      value !== undefined && Object.hasOwn(schema.shape, key) && (value !== null || schema.shape[key].safeParse(null).success),
  );
  return Object.fromEntries(entries) as T;
}
