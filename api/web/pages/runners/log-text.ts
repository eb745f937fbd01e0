/** Escape sequences of terminals: colors and cursor movements, and commands such as a window's title. */
// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\^_]|[()][A-Za-z0-9])/g;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g;

/** Returns what a terminal would leave of a line that was written over. */
const lastWriting = (line: string): string => line.slice(line.lastIndexOf('\r') + 1);

/** Returns the text of a log as a page shows it: no escape sequences, the last state of lines that were written over. */
export const logText = (log: string): string =>
  log
    .replace(ESCAPES, '')
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map(lastWriting)
    .join('\n')
    .replace(CONTROLS, (character) => String.fromCharCode(character === '\u007F' ? 0x2421 : 0x2400 + character.charCodeAt(0)));
