import { Item } from './item';
export function List(props: { items: string[] }) {
  return <ul>{props.items.map((i) => <Item key={i} text={i} />)}</ul>;
}
export const Title = ({ text }: { text: string }) => <h1>{text}</h1>;
