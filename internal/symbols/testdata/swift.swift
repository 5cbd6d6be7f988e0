// func notHere() {}
public protocol Shape { func area(_ scale: Int) -> Int }
public struct Table: Shape {
    public func area(_ scale: Int) -> Int { return scale }
}
extension Table {
    static func open(path: String) -> Table { return Table() }
}
