export interface Shape<T> extends Base {
  area(scale: number): number;
}
export type Name = string | { first: string };
export enum Colour { Red, Blue }
export abstract class Circle implements Shape<number> {
  constructor(private r: number) {}
  area(scale: number): number { return scale * this.r; }
  abstract name(): Name;
}
declare function later(shape: Circle): void;
namespace inner {
  export const PI = 3;
}
export const make = (r: number): Circle => new Big(r);
