import type { z } from 'zod';
import { type FieldError, invalidFields } from '../platform/errors.js';
import { didYouMean, nearest } from '../platform/validation/suggestions.js';

/** Enough to find a typo; a header must stay small. */
const MAX_NAMED = 20;
const MAX_NAME_LENGTH = 64;
const MAX_TYPOS = 2;

type Def = {
  type: string;
  shape?: Record<string, z.ZodType>;
  catchall?: z.ZodType;
  element?: z.ZodType;
  options?: z.ZodType[];
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
};
interface UnknownField {
  field: string;
  known: string[];
}

const getDef = (schema: z.ZodType): Def => schema.def as unknown as Def;

/** Returns the object or array schema below optional, nullable, default and transformed ones. */
function unwrap(schema: z.ZodType): Def {
  const def = getDef(schema);
  if (def.innerType) return unwrap(def.innerType);
  if (def.type === 'pipe' && def.in && def.out) return unwrap(getDef(def.in).type === 'transform' ? def.out : def.in);
  return def;
}

/** Returns the alternative of a union that has the type of the value, if only one has: an object, or an array. */
function findAlternative(options: readonly z.ZodType[], value: object): Def | undefined {
  const type = Array.isArray(value) ? 'array' : 'object';
  const fitting = options.map(unwrap).filter((def) => def.type === type);
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Yields the keys of a value that its schema does not name. Open objects, and unions of objects, take any key. */
export function* unknownFields(place: string, schema: z.ZodType | undefined, value: unknown): Generator<UnknownField> {
  if (typeof value !== 'object' || value === null) return;
  const known = schema ? unwrap(schema) : { type: 'object', shape: {} };
  const def: Def | undefined = known.options ? findAlternative(known.options, value) : known;
  if (!def) return;
  yield* unknownKeys(place, def, value);
}

function* unknownKeys(place: string, def: Def, value: object): Generator<UnknownField> {
  if (def.type === 'array' && def.element && Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* unknownFields(`${place}.${index}`, def.element, item);
    return;
  }
  if (def.type !== 'object' || !def.shape || Array.isArray(value)) return;
  const known = Object.keys(def.shape);
  for (const [key, inner] of Object.entries(value)) {
    const field = `${place}.${key}`;
    if (Object.hasOwn(def.shape, key)) yield* unknownFields(field, def.shape[key] as z.ZodType, inner);
    else if (def.catchall === undefined) yield { field, known };
  }
}

function buildError({ field, known }: UnknownField): FieldError {
  const name = field.slice(field.lastIndexOf('.') + 1).slice(0, MAX_NAME_LENGTH);
  return { field, message: `Unknown field${didYouMean(nearest(name, known, 1, MAX_TYPOS))}`, type: 'unknown_field' };
}

/**
 * Names ignored fields in X-Ignored-Fields, or rejects them if the caller prefers strict handling (RFC 7240).
 * @throws VALIDATION_ERROR unknown fields under `Prefer: handling=strict`
 */
export function reportUnknownFields(found: UnknownField[], prefer: unknown, headers: Record<string, string>): void {
  const isStrict = /(?:^|[,;\s])handling="?strict"?(?:$|[,;\s])/i.test([prefer].flat().join(', '));
  if (isStrict) headers['Preference-Applied'] = 'handling=strict';
  if (found.length === 0) return;
  const named = found.slice(0, MAX_NAMED);
  if (isStrict) throw invalidFields(named.map(buildError));
  headers['X-Ignored-Fields'] = named
    .map(({ field }) => encodeURIComponent(field.slice(0, MAX_NAME_LENGTH).toWellFormed()))
    .join(', ');
}
