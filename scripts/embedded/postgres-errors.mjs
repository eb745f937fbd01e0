import { StartError } from './errors.mjs';

const CURES = [
  [/Address already in use/, 'The port is taken', 'Choose another PG_PORT, or leave it unset.'],
  [/No space left on device/, 'The disk is full', 'Free some space, or set DATA_DIR to another disk.'],
  [
    /could not access directory|Permission denied|EACCES/,
    'The database user may not enter the directory',
    'Set DATA_DIR to a directory that it can reach, for example below /var/lib.',
  ],
  [
    /has invalid permissions|could not change permissions/,
    'The file system keeps no permissions',
    'Set DATA_DIR to a directory on a native file system.',
  ],
  [/has wrong ownership/, 'The data belongs to another user', 'Start as the user who made it, or start over: npm run reset'],
  [/cannot be run as root|running as root/, 'PostgreSQL does not run as root', 'Run npm start as an ordinary user.'],
  [
    /error while loading shared libraries|Library not loaded/,
    'The binaries miss a library',
    'Reinstall: rm -rf node_modules && npm ci',
  ],
  [
    /Resource temporarily unavailable|Cannot allocate memory|could not create shared memory/,
    'The machine is out of memory',
    'Free some memory, then start again.',
  ],
];

/**
 * Turns log lines of PostgreSQL into cause and cure.
 * @param {string} what what failed, for example `initdb failed`
 * @param {string[]} lines end of the log
 * @param {string} [message] what the operating system said
 * @returns {StartError}
 */
export function explain(what, lines, message = '') {
  const text = `${lines.join('\n')}\n${message}`;
  const known = CURES.find(([pattern]) => pattern.test(text));
  const or = 'Or set DATABASE_URL to an existing PostgreSQL 18.';
  if (known) return new StartError(`${what}: ${known[1].toLowerCase()}.`, [known[2], or], lines);
  return new StartError(
    `${what}.`,
    ['See what is wrong with this machine: npm run doctor', or],
    lines.length > 0 ? lines : [message],
  );
}
