const MAX_LENGTH = 300;

/** Returns a `User-Agent` header as PostgreSQL can store it; null if absent. */
export const cleanUserAgent = (header: string | undefined): string | null =>
  header?.toWellFormed().replaceAll('\0', '').slice(0, MAX_LENGTH) || null;
