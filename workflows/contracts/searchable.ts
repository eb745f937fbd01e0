export interface Searchable {
  /** False on a cluster without slots for the search attributes: the workflow then sets none. */
  searchable?: false;
}
