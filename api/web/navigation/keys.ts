import { PLACES } from './places.js';

interface Key {
  /** Keys that are pressed one after the other, as they are printed. */
  presses: readonly string[];
  does: string;
}

const placeKeys = PLACES.flatMap(({ keys, label }) => (keys ? [{ presses: keys.split(' '), does: label }] : []));

/** Every key of the web app. Links and fields name theirs in `data-keys`, where the script finds them. */
export const KEY_GROUPS: readonly { name: string; keys: readonly Key[] }[] = [
  {
    name: 'Anywhere',
    keys: [
      { presses: ['Ctrl K'], does: 'Open the palette: pages, items, actions and new tasks' },
      { presses: ['/'], does: 'Search' },
      { presses: ['?'], does: 'List the keys' },
      { presses: ['Esc'], does: 'Close what is open' },
    ],
  },
  { name: 'Go to', keys: placeKeys.filter(({ presses }) => presses.length > 1) },
  {
    name: 'In the palette',
    keys: [
      { presses: ['Arrow down'], does: 'Next result' },
      { presses: ['Arrow up'], does: 'Previous result' },
      { presses: ['Enter'], does: 'Open the result' },
      { presses: ['Ctrl Enter'], does: 'Open the result in a new tab' },
    ],
  },
];
