package a.b;
import a.c.Other;
/* class NotHere {} */
@Deprecated
public final class Table<T> extends Base implements Iterable<T> {
    public static final int LIMIT = 10;
    private int rows;
    public Table(int rows) { this.rows = rows; }
    @Override
    public Iterator<T> iterator() throws Other {
        return new Rows(this);
    }
    interface Visitor { void visit(Table<?> t); }
    enum Colour { RED; }
    record Point(int x, int y) {}
}
@interface Marker { String value(); }
