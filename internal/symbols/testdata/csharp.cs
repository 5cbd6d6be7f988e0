namespace A.B;
/* class NotHere {} */
public sealed class Table : Base {
    public const int Limit = 10;
    public Table(int rows) { }
    public async Task<List<int>> Load(string path) {
        return await Open(path);
    }
}
public interface IShape { int Area(int scale); }
