/** Line icons, 24 by 24, in the text color. Decorative only: a text always accompanies them. */
const PATHS = {
  home: '<path d="M4 11.5 12 4.5l8 7"/><path d="M6.5 10v9.5h11V10"/><path d="M10 19.5v-5h4v5"/>',
  approve: '<circle cx="12" cy="12" r="8.5"/><path d="m8.2 12.3 2.6 2.6 5-5.4"/>',
  talk: '<path d="M4 5.500h16v10.500h-9l-4.500 4v-4H4z"/><path d="M8 9.500h8M8 12.500h5"/>',
  team: '<circle cx="9" cy="9" r="3.2"/><path d="M3.5 19c.4-3.3 2.6-5 5.5-5s5.1 1.7 5.5 5"/><path d="M15.5 6.2a3.2 3.2 0 0 1 0 5.6M17.3 14.6c1.9.7 3 2.2 3.2 4.4"/>',
  person: '<circle cx="12" cy="8.5" r="3.7"/><path d="M5 20c.6-4 3.300-6 7-6s6.400 2 7 6"/>',
  shield:
    '<path d="M12 3.500 5 6v5.500c0 4.200 2.800 7.300 7 9 4.200-1.700 7-4.800 7-9V6z"/><path d="m9 12 2.200 2.200L15.200 10"/>',
  device: '<rect x="3.500" y="5" width="17" height="11" rx="1.500"/><path d="M8.500 20h7M12 16v4"/>',
  key: '<circle cx="8" cy="15.500" r="4"/><path d="m11 12.500 8.500-8.500M16 7.500l2.500 2.500M13.500 10l1.500 1.500"/>',
  tools: '<path d="M4 7h9M17 7h3M4 17h3M11 17h9"/><circle cx="15" cy="7" r="2"/><circle cx="9" cy="17" r="2"/>',
  check: '<path d="m5 12.500 4.500 4.500L19 7.500"/>',
  cross: '<path d="m6.500 6.500 11 11M17.500 6.500l-11 11"/>',
  pause: '<path d="M9 6v12M15 6v12"/>',
  clock: '<circle cx="12" cy="12" r="8.500"/><path d="M12 7v5.200l3.300 2"/>',
  dot: '<circle cx="12" cy="12" r="4"/>',
  todo: '<circle cx="12" cy="12" r="8.500"/>',
  in_progress: '<circle cx="12" cy="12" r="8.500"/><path d="M12 7a5 5 0 0 1 0 10z" fill="currentColor" stroke="none"/>',
  in_review: '<circle cx="12" cy="12" r="8.500"/><path d="M12 7a5 5 0 1 1-5 5h5z" fill="currentColor" stroke="none"/>',
  done: '<circle cx="12" cy="12" r="8.500"/><path d="m8.200 12.300 2.600 2.600 5-5.400"/>',
  canceled: '<circle cx="12" cy="12" r="8.500"/><path d="m9 9 6 6M15 9l-6 6"/>',
  duplicate: '<rect x="4" y="4" width="11" height="11" rx="1.500"/><path d="M18.500 9v9.500H9"/>',
  bolt: '<path d="M13 3.500 5.500 13.500H12l-1 7 7.500-10H12z"/>',
  warn: '<path d="M12 4 3 19.500h18z"/><path d="M12 10v4.500M12 17.200v.1"/>',
  bell: '<path d="M6 16.500V11a6 6 0 0 1 12 0v5.500l1.500 2H4.500z"/><path d="M10 20.500h4"/>',
  mail: '<rect x="3.500" y="5.500" width="17" height="13" rx="1.500"/><path d="m4 7 8 6 8-6"/>',
  out: '<path d="M14 4.500h5.500V10M19.500 4.500 11 13"/><path d="M18 14v5.500H4.500V6H10"/>',
  leave: '<path d="M10 4.500H5v15h5M15 8l4 4-4 4M19 12H9.500"/>',
  search: '<circle cx="10.5" cy="10.5" r="6"/><path d="m15 15 5 5"/>',
  cycle: '<path d="M19.500 12a7.500 7.500 0 1 1-2.300-5.400"/><path d="M19.800 3.500v4h-4"/>',
  board:
    '<rect x="3.500" y="5" width="4.500" height="14" rx="1"/><rect x="9.750" y="5" width="4.500" height="9" rx="1"/><rect x="16" y="5" width="4.500" height="11" rx="1"/>',
  more: '<path d="M5 12h.01M12 12h.01M19 12h.01" stroke-width="2.6"/>',
  keyboard:
    '<rect x="3" y="6.500" width="18" height="11" rx="1.500"/><path d="M6.500 10h.01M10 10h.01M13.500 10h.01M17.500 10h.01M8 14h8"/>',
  up: '<path d="m6 14.500 6-6 6 6"/>',
  down: '<path d="m6 9.500 6 6 6-6"/>',
  pen: '<path d="m5 19 1-4L16.500 4.500l3 3L9 18z"/><path d="m14.500 6.500 3 3"/>',
  to: '<path d="M5 12h13.500M13 6.500l5.500 5.500L13 17.500"/>',
  plus: '<path d="M12 5.500v13M5.500 12h13"/>',
  filter: '<path d="M4 6.500h16M7 12h10M10 17.500h4"/>',
  skip: '<path d="M6 6.500 13 12l-7 5.500zM17 6.500v11"/>',
} as const;

export type IconName = keyof typeof PATHS;

/** Returns the icon's markup for a template. */
export const icon = (name: IconName): string =>
  `<svg class="icon" viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${PATHS[name]}</svg>`;
