/** Names of records that a caller gives in place of an id. */

/** Returns a name as names are compared: without spaces around it, in lower case. */
export const foldName = (text: string): string => text.trim().toLowerCase();

/** Returns the beginning of a name in quotes, for a message. */
export const quoteName = (text: string): string => `“${text.trim().slice(0, 60).toWellFormed()}”`;
